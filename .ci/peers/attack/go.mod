module attack

go 1.26
