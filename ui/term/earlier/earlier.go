// Package earlier keeps the packages of the screen from asking the terminal
// before main. Bubble Tea asks Lip Gloss for the background while packages are
// initialised, and that waits up to five seconds for a terminal that does not
// answer, also for commands that print one line. What is known is not asked for.
//
// It is a module of its own because of its path: packages are initialised in the
// order of their paths as soon as those that they import are, and this one comes
// before github.com/charmbracelet/bubbletea. Only the interactive program asks;
// see term.Ask.
package earlier

import "github.com/charmbracelet/lipgloss"

func init() { lipgloss.SetHasDarkBackground(true) }
