//go:build !unix && !js && !wasip1 && !windows

package condition

// Plan 9 has texts where others have numbers.
var errnos, refusals []error
