// Package spool keeps bytes that may be many: the first in memory, the rest in a temporary file without a name.
package spool

import (
	"errors"
	"io"
	"os"
	"runtime"
)

// Memory is how many bytes are kept in memory before a file is used.
const Memory = 1 << 20

// Buffer grows at its end and is read anywhere. The zero Buffer is empty. One goroutine at a time.
type Buffer struct {
	memory []byte
	file   *os.File
	beyond int64 // bytes in the file
}

// Len is the number of bytes that were written.
func (b *Buffer) Len() int64 { return int64(len(b.memory)) + b.beyond }

// Write appends p.
func (b *Buffer) Write(p []byte) (n int, err error) {
	if room := Memory - len(b.memory); room > 0 {
		n = min(room, len(p))
		b.memory = append(b.memory, p[:n]...)
	}
	if n == len(p) {
		return n, nil
	}
	if b.file == nil {
		if b.file, err = temporary(); err != nil {
			return n, err
		}
	}
	m, err := b.file.WriteAt(p[n:], b.beyond)
	b.beyond += int64(m)
	return n + m, err
}

// ReadAt reads as io.ReaderAt does.
func (b *Buffer) ReadAt(p []byte, at int64) (n int, err error) {
	if at < int64(len(b.memory)) {
		n = copy(p, b.memory[at:])
		at += int64(n)
	}
	if n == len(p) {
		return n, nil
	}
	if b.beyond == 0 {
		return n, io.EOF
	}
	m, err := b.file.ReadAt(p[n:], at-int64(len(b.memory)))
	return n + m, err
}

// WriteTo writes all bytes to w.
func (b *Buffer) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, io.NewSectionReader(b, 0, b.Len()))
}

// Close forgets the bytes. The Buffer is then empty and can be used again.
func (b *Buffer) Close() error {
	var err error
	if b.file != nil {
		err = b.file.Close()
		if runtime.GOOS == "windows" {
			err = errors.Join(err, os.Remove(b.file.Name()))
		}
	}
	*b = Buffer{}
	return err
}

// temporary opens a file that only this process can reach. Where an open file cannot be removed, Close does that.
func temporary() (*os.File, error) {
	f, err := os.CreateTemp("", "retry-*")
	if err == nil && runtime.GOOS != "windows" {
		err = os.Remove(f.Name())
	}
	return f, err
}
