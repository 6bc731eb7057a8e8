package scripts

import "embed"

// Recipes are the files of recipes: a script each, what they share, and index.txt with a line for each.
//
//go:embed recipes
var Recipes embed.FS

// Index is that list.
//
//go:embed recipes/index.txt
var Index string
