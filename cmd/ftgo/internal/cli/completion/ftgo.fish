# fish completion for ftgo: source this file, or put it into
# ~/.config/fish/completions/ftgo.fish.
function __ftgo_complete
    set -l words (commandline --tokenize --cut-at-cursor --current-process)
    set -l current (commandline --current-token --cut-at-cursor)
    set -l lines (command $words[1] complete-words -- $words[2..-1] "$current" 2>/dev/null)
    if set -q lines[1]
        printf '%s\n' $lines
    else
        __fish_complete_path "$current"
    end
end
complete --command ftgo --no-files --arguments '(__ftgo_complete)'
