package tour

// Journeys returns all journeys, the first for new users. Rule: UI
// design, section 15.
func Journeys() []Journey {
	return []Journey{
		{"first contact: what is on the screen", []Step{
			{"k", "Each line is one request that Puppet made: who was asked for what, who answered, and how it ended. k goes up and stops following.", []string{"follow off"}, nil},
			{"G", "G goes to the end again, where new requests come in.", []string{"follow on"}, nil},
			{"?", "On every screen ? says what the keys do there. Pressing one of them there does it.", []string{"press a key to do it"}, nil},
			{"esc", "esc closes what is open. It never leaves the program; q does.", []string{"follow on"}, []string{"press a key to do it"}},
			{"enter", "enter opens the steps of a request: the ten questions that are asked about every one, each with its answer and the reason.", []string{"STEP", "ANSWER", "BECAUSE"}, nil},
			{"esc", "And back.", []string{"follow"}, []string{"BECAUSE"}},
		}},
		{"who answered this facts request, and who decided that?", []Step{
			{"/ ind=facts served=cache enter", "An expression chooses requests: those for facts that a cache answered.", []string{"ind=facts served=cache", " of "}, []string{" / ind="}},
			{"enter", "The cache answered, so the terminus was not asked: step 5 says so.", []string{"BECAUSE", "cache read", "the cache answered"}, nil},
			{"g", "Step 1 is the route: who is asked, and who decided that.", []string{" 1 route "}, nil},
			{"l", "Every choice for the route, the strongest first. The one that wins is marked; routes.yaml names one that does not apply.", []string{"wins", "not applied"}, nil},
			{"esc", "Back to the list.", []string{"ind=facts served=cache"}, nil},
			{"esc", "esc takes the filter away. The cursor is where it was.", []string{"Requests  all "}, nil},
		}},
		{"why did the agent use a cached catalog?", []Step{
			{"/ out=stale enter", "stale: the cache answered because the terminus had failed before. From outside such a run looks fine.", []string{"out=stale", " of "}, []string{" / out="}},
			{"enter", "The story says it in one sentence, with the number of the request that failed and how old the catalog is.", []string{"BECAUSE", "STORY", "91 min old"}, nil},
			{"{", "{ goes to the request before it in the same run: the one that failed, with what the server said.", []string{"500", " err "}, nil},
			{"D", "D compares with the last good answer for the same key.", []string{"Compare  #", "provenance A:"}, nil},
			{"esc", "Back.", []string{"STORY"}, []string{"provenance A:"}},
			{"1", "1 is the place Requests.", []string{"follow o", "out=stale"}, nil},
			{"esc", "esc takes the filter away.", []string{"Requests  all "}, nil},
		}},
		{"could not find node: the ENC printed nothing", []Step{
			{"2", "Failures: what went wrong, in groups of one cause, also what no caller ever saw.", []string{"kind"}, nil},
			{"j", "Move to the group of the node classifier (ENC), which printed nothing: j goes down.", []string{"printed nothing", ">"}, nil},
			{"enter", "enter lists the requests of the group.", []string{"follow o", " of "}, nil},
			{"enter", "The steps say how it went.", []string{"STEP", "BECAUSE"}, nil},
			{"1", "Back to the list of requests.", []string{"follow o", " of "}, nil},
			{"esc", "And all of them again.", []string{"Requests  all "}, nil},
		}},
		{"swap a terminus, with what-if and undo", []Step{
			{"3", "Routes: who answers what, and who decided that.", []string{"SET BY"}, nil},
			{":route node terminus=yaml dry enter", "What if another terminus answered? dry looks at what was recorded; nothing is executed.", []string{"what-if"}, nil},
			{":route node terminus=yaml enter", "Now for real, here only: no file is changed. The line of tabs counts what you changed.", []string{"1 override"}, nil},
			{"z", "z takes it back. So it does with filters, breakpoints, marks and rules.", []string{"undone :route node terminus=yaml"}, []string{"1 override"}},
			{"1", "Back to the requests.", []string{"follow o"}, nil},
		}},
		{"hold a request, change it, let it go", []Step{
			{"5", "Breaks: what stops requests, and those that are stopped.", []string{" armed"}, nil},
			{":break ind=catalog key=web01* before cache-read enter", "A breakpoint: when, before which question, and what to do. Without a word it holds.", []string{"1 armed"}, nil},
			{":find catalog web01.example.com ignore_cache enter", "A request for the catalog of web01 that does not want the cache.", []string{"HELD 1"}, nil},
			{"enter", "The steps that have happened, and, dotted, the plan of those to come: the terminus will be asked.", []string{"WILL NOT ASK"}, nil},
			{"e j j j j j enter", "The pane EDIT changes what the steps to come will see. Switch ignore_cache off, and the plan changes at once.", []string{"would be served"}, nil},
			{"e c", "e leaves the pane, c lets the request go on: the cache answers.", []string{" hit "}, []string{"HELD before"}},
			{":breaks off enter", "One command disarms everything and lets everything go.", []string{"breaks off"}, nil},
			{"1", "Back to the requests.", []string{"follow o"}, nil},
		}},
		{"the same key through two termini", []Step{
			{":diff find node web01.example.com terminus=exec,plain enter", "Both are asked, and their answers compared. Who decided stands below: two equally wrong answers look equal.", []string{"Compare  #", "provenance A:"}, nil},
			{"]", "] goes to the next difference.", []string{"Compare  #"}, nil},
			{"I", "I says that this path does not count. What is ignored is counted on the screen.", []string{"ignored 1 rule"}, nil},
			{"z", "z takes the rule back.", []string{"undone :ignore"}, []string{"ignored 1 rule"}},
			{"1", "Back to the requests.", []string{"follow o"}, nil},
		}},
		{"the life of a cache entry", []Step{
			{"4", "Cache: what every terminus keeps, routed or not. o marks what nobody reads any more.", []string{" entries", "orphan"}, nil},
			{"u", "u lists the requests that this entry served.", []string{"follow o", "ind="}, nil},
			{"esc", "All requests again.", []string{"Requests  all "}, nil},
		}},
		{"why is my exported resource missing?", []Step{
			{"/ b02 ind=catalog enter", "The catalog of b02 collects hosts. Its story names the nodes that they are of, and how old that is.", []string{"b02 ind=catalog", " of ", "collected 2 resources"}, []string{" / b02"}},
			{"esc", "esc takes the filter away.", []string{"Requests  all "}, nil},
			{"/ ind=resource enter", "The searches behind it: c03 exports two that would fit, but it is deactivated.", []string{"ind=resource", " of ", "c03.example.com"}, []string{" / ind="}},
			{"esc", "All requests again.", []string{"Requests  all "}, nil},
			{"4", "Cache has what a store keeps of each node: produced when, by whom, and active or not.", []string{" entries"}, nil},
			{"1", "Back to the requests.", []string{"follow o"}, nil},
		}},
		{"why are these facts old?", []Step{
			{"/ a01 verb=find enter", "The facts of a01 are from a store. What was saved later was produced earlier, by the clock of the server: stores ignore that.", []string{"a01 verb=find", " of ", "35 min old"}, []string{" / a01"}},
			{"esc", "esc takes the filter away.", []string{"Requests  all "}, nil},
			{"4", "Cache: what is kept, how old it is, and who wrote it.", []string{" entries"}, nil},
			{"/ a01 ind=facts enter", "Of this entry, who wrote it, and what became of the last save.", []string{"last save"}, []string{" / a01"}},
			{"esc", "All entries again.", []string{" entries"}, []string{"a01 ind=facts"}},
			{"1", "Back to the requests.", []string{"follow o"}, nil},
		}},
		{"what would this catalog do here?", []Step{
			{"/ out=stale enter", "A run used an old catalog. What would it do to this machine?", []string{"out=stale", " of "}, []string{" / out"}},
			{"p", "p plans it: every resource in the order of evaluation, and the totals on top. Nothing is changed.", []string{"plan of #", " to change"}, nil},
			{"} }", "} goes to the next one that is not in sync. The service would be refreshed, by the file before it.", []string{"would be refreshed"}, nil},
			{"enter", "One resource: why, and what it waits for. enter on a line below \"waits for\" goes there.", []string{"plan > Service", "waits for"}, nil},
			{"{ {", "{ goes back to what would be changed before: the file.", []string{"plan > File[/etc/nginx"}, nil},
			{"v", "v shows how its content would change.", []string{"diff of File"}, nil},
			{"1", "Back to the list of requests.", []string{"follow o", " of "}, nil},
			{"esc", "And all of them again.", []string{"Requests  all "}, nil},
		}},
		{"which entry of LDAP won?", []Step{
			{"/ terminus=ldap enter", "The directory has two entries of that name. The last one won, and the story names both.", []string{"terminus=ldap", " of ", "2 entries named b02"}, []string{" / term"}},
			{"enter", "The steps of the request.", []string{"STEP", "BECAUSE"}, nil},
			{"l", "l unfolds what was done: each search with how many entries came, and at the end where classes and parameters are from.", []string{"search b02"}, nil},
			{"1", "Back to the list of requests.", []string{"follow o", " of "}, nil},
			{"esc", "And all of them again.", []string{"Requests  all "}, nil},
		}},
	}
}
