notice "\q"
