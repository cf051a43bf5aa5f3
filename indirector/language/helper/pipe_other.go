//go:build !unix

package helper

func isBrokenPipe(error) bool { return false }
