# bash completion for ftgo: source this file, or put it where bash-completion looks,
# /usr/share/bash-completion/completions/ftgo.
_ftgo() {
    local words word
    # Bash takes an = for a word of its own. The full stop keeps an empty last word.
    read -ra words <<<"${COMP_LINE:0:COMP_POINT}."
    words[-1]=${words[-1]%.}
    COMPREPLY=()
    while IFS=$'\t' read -r word _; do
        [[ ${words[-1]} != *=* ]] || word=${word#*=}
        COMPREPLY+=("$word")
    done < <(command "${words[0]}" complete-words -- "${words[@]:1}" 2>/dev/null)
}
complete -o default -F _ftgo ftgo
