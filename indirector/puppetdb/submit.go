package puppetdb

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/network/client"
	"indirtui/indirector/puppetdb/command"
	"indirtui/indirector/stores"
	"indirtui/traces"
)

// NotSubmitted is the class of a Failure of Submit after PuppetDB was asked.
const NotSubmitted = "Puppet::Util::Puppetdb::CommandSubmissionError"

// Submit sends a command. It returns PuppetDB's answer, a hash with the uuid by
// which the command is queued: whether it will be stored is not known then. With
// soft_write_failure the result of a failure is what was logged, and no error; another
// *[indirector.Failure] is left to the caller to log.
// Rules PDB-HTTP-02, PDB-HTTP-03, PDB-HTTP-13, PDB-HTTP-14.
func (c *Client) Submit(ctx context.Context, cmd *command.Command) (any, error) {
	cfg, err := c.Config()
	if err != nil {
		_, err = c.Config() // Puppet asks again, whether failures are soft
		return nil, err
	}
	for _, w := range cmd.Warnings {
		c.log.Warn(w)
	}
	body, warning := cmd.Body()
	if warning != "" {
		c.log.Warn(warning)
		traces.AddNote(ctx, "a text is not UTF-8, so every byte of the command that is not ASCII becomes U+FFFD, also of other texts")
	}
	result, tried, err := c.submit(ctx, cfg, cmd, body)
	switch {
	case err == nil:
		c.became.Add(stores.Queued, c.now(), cmd.String()+" at "+answered(tried).url.Host)
		switch cmd.Name {
		case command.ReplaceCatalog:
			c.sent.Add(cmd.Certname, cmd.Produced, c.now())
		case command.DeactivateNode: // its catalog is not found any longer
			c.sent.stored(cmd.Certname, cmd.Produced)
		}
		if known, stored := c.confirmed(ctx, cfg, cmd, tried); stored {
			c.sent.stored(cmd.Certname, cmd.Produced)
			traces.Done(ctx, known)
		} else if known != "" {
			traces.Explain(ctx, known)
		}
		c.explain(ctx, cfg, result, tried)
		return result, nil
	case ctx.Err() != nil:
		return nil, err
	}
	message := indirector.Message(err)
	kind := stores.Failed
	if a := answered(tried); a != nil && !a.answer.OK() {
		kind = stores.Refused
	}
	c.became.Add(kind, c.now(), cmd.String()+": "+message)
	if cfg.SoftFailure {
		c.log.Error(message)
		soften(ctx, cfg, tried, err)
		return message, nil
	}
	if answered(tried) == nil && len(tried) > 0 {
		traces.ExplainFailure(ctx, "no PuppetDB took the command: "+leftBehind(tried))
	}
	return nil, &indirector.Failure{
		Class: NotSubmitted, Message: message, Origin: "network",
		Path: strings.Join(texts(cfg.ServerURLs), ", "), Hidden: leftBehind(tried), Err: err,
	}
}

// submit sends the command and reads the answer.
func (c *Client) submit(ctx context.Context, cfg *Config, cmd *command.Command, body []byte) (result data.Value, tried []attempt, err error) {
	name := strings.ReplaceAll(cmd.Name, " ", "_")
	q := &question{
		name: name, method: http.MethodPost, path: command.Path + "?" + cmd.Query(body), body: body,
		header: http.Header{
			"Accept": {"application/json"}, "Content-Type": {"application/json; charset=utf-8"},
			"X-Uncompressed-Length": {strconv.Itoa(len(body))},
		},
	}
	if cfg.Broadcast {
		tried, err = c.toAll(ctx, cfg, c.submitURLs(cfg), q)
	} else {
		tried, err = c.failover(ctx, cfg, c.submitURLs(cfg), false, q)
	}
	if err != nil {
		return result, tried, err
	}
	answer := answered(tried).answer
	c.deprecated(ctx, answer.Header)
	if !answer.OK() {
		message := refusal(answer)
		if cfg.SoftFailure {
			message = fmt.Sprintf("'%s'command for %s failed during submission to PuppetDB: %s", name, cmd.Certname, message)
		}
		return result, tried, &indirector.Failure{Message: message, Origin: "network", Status: answer.Status}
	}
	result, err = format.DecodeJSON(answer.Body, format.Limits{Depth: c.depth})
	if err == nil && result.Kind() != data.Hash {
		err = fmt.Errorf("the answer is a %s, and no hash with a uuid", result.Kind())
	}
	if err != nil {
		return result, tried, &indirector.Failure{Message: err.Error(), Origin: "decode", Hidden: "the answer to the command was 2xx, so that it is queued all the same", Err: err}
	}
	c.log.Info(fmt.Sprintf("'%s' command for %s submitted to PuppetDB with UUID %s", name, cmd.Certname, result.Get("uuid").Text()))
	return result, tried, nil
}

// deprecated logs what PuppetDB reports about old requests. Rule PDB-HTTP-04.
func (c *Client) deprecated(ctx context.Context, h http.Header) {
	if text := h.Get("X-Deprecation"); text != "" {
		c.log.Warn("Deprecation from PuppetDB: " + text)
		traces.AddNote(ctx, "deprecation from PuppetDB: "+text)
	}
}

// explain puts into the first line where the command is queued, and who will not
// see it.
func (c *Client) explain(ctx context.Context, cfg *Config, result data.Value, tried []attempt) {
	var at, submitOnly []string
	for _, t := range tried {
		switch {
		case t.left != "":
		case !t.answer.OK():
			traces.AddNote(ctx, fmt.Sprintf("%s refused the command (%s), and Puppet counts that as good", t.url.Host, refusal(t.answer)))
		case slices.Contains(cfg.ServerURLs, t.url):
			at = append(at, t.url.Host)
		default:
			submitOnly = append(submitOnly, t.url.Host)
		}
	}
	left := leftBehind(tried)
	if len(at) == 0 {
		var queries []string
		for _, u := range cfg.ServerURLs {
			queries = append(queries, u.Host)
		}
		traces.Explain(ctx, fmt.Sprintf("stored at %s only; queries go to %s and will not see it", strings.Join(submitOnly, ", "), strings.Join(queries, ", ")))
		if left != "" {
			traces.AddNote(ctx, "not at "+left)
		}
		return
	}
	s := fmt.Sprintf("queued at %s, uuid %s; it is stored later, if it is", strings.Join(append(at, submitOnly...), ", "), result.Get("uuid").Text())
	if left != "" {
		traces.Explain(ctx, s+"; not at "+left)
		return
	}
	traces.Done(ctx, s)
}

// soften records a failure that soft_write_failure hides. Rule PDB-HTTP-14.
func soften(ctx context.Context, cfg *Config, tried []attempt, err error) {
	live := traces.FromContext(ctx)
	if live == nil {
		return
	}
	where := softFailure + ", " + cfg.Source(softFailure)
	what := "stored nowhere"
	if left := answered(tried); left == nil {
		what += fmt.Sprintf(": %d of %d URLs failed", len(tried), len(tried))
	} else if left.answer.OK() {
		what = "queued at " + left.url.Host + ", but the answer makes no sense"
	} else {
		what += fmt.Sprintf(": %s refused it (%d %s)", left.url.Host, left.answer.Status, left.answer.Reason)
	}
	live.Note(traces.AnyFailure, what+", hidden by "+where)
	live.Fault(traces.Fault{
		Origin: "terminus puppetdb", Step: live.Step, Message: indirector.Message(err), Hidden: leftBehind(tried), Soft: true,
	})
}

// refusal is Puppet's text for a status that is no success. Rule PDB-HTTP-13.
func refusal(a *client.Answer) string {
	return fmt.Sprintf("[%d %s] %s", a.Status, a.Reason, strings.NewReplacer("\r", "", "\n", "").Replace(string(a.Body)))
}
