// Package drivertest tests the library against the real packages that it meets in a service. It is a module of its own, so
// that what is tested against does not become a dependency of the library. There is nothing in it but tests.
package drivertest
