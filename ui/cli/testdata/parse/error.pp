class foo($x $y) {}
