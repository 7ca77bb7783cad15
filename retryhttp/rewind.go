package retryhttp

import "io"

// rewinder returns a function that sets w back to where it is now; nil if that cannot be done.
func rewinder(w io.Writer) func() error {
	switch w := w.(type) {
	case interface {
		io.Seeker
		Truncate(size int64) error
	}:
		start, err := w.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil // a pipe or a terminal
		}
		return func() error {
			if err := w.Truncate(start); err != nil {
				return err
			}
			_, err := w.Seek(start, io.SeekStart)
			return err
		}
	case interface {
		Len() int
		Truncate(n int)
	}:
		start := w.Len()
		return func() error { w.Truncate(start); return nil }
	}
	return nil
}
