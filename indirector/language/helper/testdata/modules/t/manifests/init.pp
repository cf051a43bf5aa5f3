class t($p = 1, $q = undef, $template = 'all') {
  $list = ['a', { 'b' => [1, undef] }]
  $dashed_name = 'd'
  notify { 't': message => template("t/${template}.erb") }
}
