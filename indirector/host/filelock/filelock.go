// Package filelock locks files against other processes, real Puppet among them:
// its buckets and the directory of a CA are shared.
package filelock
