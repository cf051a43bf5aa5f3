package erb

// rubyMethods are the methods that Ruby 3.1 has, by their classes, with the number of their
// arguments if that is always the same. What is asked for and is one of them, but not
// evaluated here, is an error of ours and none of Ruby's.
var rubyMethods = map[string]string{
	"String": `%:1 *:1 +:1 +@:0 -@:0 <:1 <<:1 <=:1 >:1 >=:1 [] []= ascii_only?:0 b:0 between?:2 bytes:0 bytesize:0 byteslice capitalize capitalize! casecmp:1
		casecmp?:1 center chars:0 chomp chomp! chop:0 chop!:0 chr:0 clamp clear:0 codepoints:0 concat count crypt:1 delete delete! delete_prefix:1
		delete_prefix!:1 delete_suffix:1 delete_suffix!:1 downcase downcase! dump:0 each_byte:0 each_char:0 each_codepoint:0 each_grapheme_cluster:0 each_line
		empty?:0 encode encode! encoding:0 end_with? force_encoding:1 getbyte:1 grapheme_clusters:0 gsub gsub! hex:0 include?:1 index insert:2 intern:0
		length:0 lines ljust lstrip:0 lstrip!:0 match match? next:0 next!:0 oct:0 ord:0 partition:1 prepend replace:1 reverse:0 reverse!:0 rindex rjust
		rpartition:1 rstrip:0 rstrip!:0 scan:1 scrub scrub! setbyte:2 size:0 slice slice! split squeeze squeeze! start_with? strip:0 strip!:0 sub sub! succ:0
		succ!:0 sum swapcase swapcase! to_c:0 to_f:0 to_i to_r:0 to_str:0 to_sym:0 tr:2 tr!:2 tr_s:2 tr_s!:2 undump:0 unicode_normalize unicode_normalize!
		unicode_normalized? unpack unpack1 upcase upcase! upto valid_encoding?:0`,
	"Symbol": `<:1 <=:1 >:1 >=:1 [] between?:2 capitalize casecmp:1 casecmp?:1 clamp downcase empty?:0 encoding:0 end_with? id2name:0 intern:0 length:0 match match?
		name:0 next:0 size:0 slice start_with? succ:0 swapcase to_proc:0 to_sym:0 upcase`,
	"Array": `&:1 *:1 +:1 -:1 <<:1 [] []= all? any? append assoc:1 at:1 bsearch:0 bsearch_index:0 chain chunk:0 chunk_while:0 clear:0 collect:0 collect!:0
		collect_concat:0 combination:1 compact:0 compact!:0 concat count cycle deconstruct:0 delete:1 delete_at:1 delete_if:0 detect difference dig drop:1
		drop_while:0 each:0 each_cons:1 each_entry each_index:0 each_slice:1 each_with_index each_with_object:1 empty?:0 entries fetch fill filter:0 filter!:0
		filter_map:0 find find_all:0 find_index first flat_map:0 flatten flatten! grep:1 grep_v:1 group_by:0 include?:1 index inject insert intersect?:1
		intersection join keep_if:0 last lazy:0 length:0 map:0 map!:0 max max_by member?:1 min min_by minmax:0 minmax_by:0 none? one? pack partition:0
		permutation pop prepend product push rassoc:1 reduce reject:0 reject!:0 repeated_combination:1 repeated_permutation:1 replace:1 reverse:0 reverse!:0
		reverse_each:0 rindex rotate rotate! sample select:0 select!:0 shift shuffle shuffle! size:0 slice slice! slice_after slice_before slice_when:0 sort:0
		sort!:0 sort_by:0 sort_by!:0 sum take:1 take_while:0 tally to_a:0 to_ary:0 to_h:0 transpose:0 union uniq:0 uniq!:0 unshift values_at zip |:1`,
	"Hash": `<:1 <=:1 >:1 >=:1 []:1 []=:2 all? any? assoc:1 chain chunk:0 chunk_while:0 clear:0 collect:0 collect_concat:0 compact:0 compact!:0
		compare_by_identity:0 compare_by_identity?:0 count cycle deconstruct_keys:1 default default=:1 default_proc:0 default_proc=:1 delete:1 delete_if:0
		detect dig drop:1 drop_while:0 each:0 each_cons:1 each_entry each_key:0 each_pair:0 each_slice:1 each_value:0 each_with_index each_with_object:1
		empty?:0 entries except fetch fetch_values filter:0 filter!:0 filter_map:0 find find_all:0 find_index first flat_map:0 flatten grep:1 grep_v:1
		group_by:0 has_key?:1 has_value?:1 include?:1 inject invert:0 keep_if:0 key:1 key?:1 keys:0 lazy:0 length:0 map:0 max max_by member?:1 merge merge!
		min min_by minmax:0 minmax_by:0 none? one? partition:0 rassoc:1 reduce rehash:0 reject:0 reject!:0 replace:1 reverse_each select:0 select!:0 shift:0
		size:0 slice slice_after slice_before slice_when:0 sort:0 sort_by:0 store:2 sum take:1 take_while:0 tally to_a:0 to_h:0 to_hash:0 to_proc:0
		transform_keys transform_keys! transform_values:0 transform_values!:0 uniq:0 update value?:1 values:0 values_at zip`,
	"Integer": `%:1 &:1 *:1 **:1 +:1 +@:0 -:1 -@:0 /:1 <:1 <<:1 <=:1 >:1 >=:1 >>:1 [] ^:1 abs:0 abs2:0 allbits?:1 angle:0 anybits?:1 arg:0 between?:2 bit_length:0
		ceil chr clamp coerce:1 conj:0 conjugate:0 denominator:0 digits div:1 divmod:1 downto:1 even?:0 fdiv:1 finite?:0 floor gcd:1 gcdlcm:1 i:0 imag:0
		imaginary:0 infinite?:0 integer?:0 lcm:1 magnitude:0 modulo:1 negative?:0 next:0 nobits?:1 nonzero?:0 numerator:0 odd?:0 ord:0 phase:0 polar:0
		positive?:0 pow pred:0 quo:1 rationalize real:0 real?:0 rect:0 rectangular:0 remainder:1 round singleton_method_added:1 size:0 step succ:0 times:0
		to_c:0 to_f:0 to_i:0 to_int:0 to_r:0 truncate upto:1 zero?:0 |:1 ~:0`,
	"Float": `%:1 *:1 **:1 +:1 +@:0 -:1 -@:0 /:1 <:1 <=:1 >:1 >=:1 abs:0 abs2:0 angle:0 arg:0 between?:2 ceil clamp coerce:1 conj:0 conjugate:0 denominator:0 div:1
		divmod:1 fdiv:1 finite?:0 floor i:0 imag:0 imaginary:0 infinite?:0 integer?:0 magnitude:0 modulo:1 nan?:0 negative?:0 next_float:0 nonzero?:0
		numerator:0 phase:0 polar:0 positive?:0 prev_float:0 quo:1 rationalize real:0 real?:0 rect:0 rectangular:0 remainder:1 round singleton_method_added:1
		step to_c:0 to_f:0 to_i:0 to_int:0 to_r:0 truncate zero?:0`,
	"Range": `%:1 all? any? begin:0 bsearch:0 chain chunk:0 chunk_while:0 collect:0 collect_concat:0 compact:0 count cover?:1 cycle detect drop:1 drop_while:0
		each:0 each_cons:1 each_entry each_slice:1 each_with_index each_with_object:1 end:0 entries:0 exclude_end?:0 filter:0 filter_map:0 find find_all:0
		find_index first flat_map:0 grep:1 grep_v:1 group_by:0 include?:1 inject last lazy:0 map:0 max max_by member?:1 min min_by minmax:0 minmax_by:0 none?
		one? partition:0 reduce reject:0 reverse_each select:0 size:0 slice_after slice_before slice_when:0 sort:0 sort_by:0 step sum take:1 take_while:0
		tally to_a:0 to_h uniq:0 zip`,
	"Regexp": `casefold?:0 encoding:0 fixed_encoding?:0 match match? named_captures:0 names:0 options:0 source:0 ~:0`,
	"MatchData": `[] begin:1 captures:0 end:1 length:0 match:1 match_length:1 named_captures:0 names:0 offset:1 post_match:0 pre_match:0 regexp:0 size:0 string:0 to_a:0
		values_at`,
	"NilClass": `&:1 ^:1 rationalize to_a:0 to_c:0 to_f:0 to_h:0 to_i:0 to_r:0 |:1`,
	"IPAddr": `& + - << <=> == >> eql? family hash hton include?:1 inspect ip6_arpa ip6_int ipv4? ipv4_compat ipv4_mapped ipv6? link_local? loopback? mask native
		netmask prefix prefix= private? reverse succ to_i to_range to_s to_string zone_id zone_id= | ~`,
	"Proc": `<<:1 >>:1 [] arity:0 binding:0 call curry lambda?:0 parameters:0 ruby2_keywords:0 source_location:0 to_proc:0 yield`,
	"Object": `! != !~ <=> == === =~ __id__ __send__ class clone define_singleton_method display dup enum_for eql? equal? extend freeze frozen? hash inspect
		instance_eval instance_exec instance_of? instance_variable_defined? instance_variable_get instance_variable_set instance_variables is_a? itself
		kind_of? method methods nil? object_id private_methods protected_methods public_method public_methods public_send remove_instance_variable respond_to?
		send singleton_class singleton_method singleton_methods taint tainted? tap then to_enum to_s trust untaint untrust untrusted? yield_self`,
	// The functions that every object has for itself.
	"private": `Array Complex Float Hash Integer Rational String abort at_exit autoload autoload? binding block_given? caller caller_locations catalog catch eval exec
		exit exit! fail file fork format gem gem_original_require gets global_variables initialize_clone initialize_copy initialize_dup iterator? lambda load
		local_variables loop open p pp print printf proc putc puts raise rand readline readlines require require_relative respond_to_missing? select
		set_trace_func sleep spawn sprintf srand syscall system test throw trace_var trap untrace_var warn`,
}
