package fileserving

// Fnmatch is for tests that compare it with Ruby's.
var Fnmatch = fnmatch
