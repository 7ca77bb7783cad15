// Package retrysim simulates what a retry policy does to a server, before an outage does.
package retrysim
