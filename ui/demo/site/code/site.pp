# What the proxy of the demo site collects: hosts that others export.
node 'b02.example.com' {
  Host <<| tag == 'cluster' |>>
}
