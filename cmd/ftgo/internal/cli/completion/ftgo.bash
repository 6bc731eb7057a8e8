# bash completion for ftgo: source this file, or put it where bash-completion looks,
# /usr/share/bash-completion/completions/ftgo.
_ftgo() {
    local kind word
    COMPREPLY=()
    {
        IFS= read -r kind
        while IFS=$'\t' read -r word _; do
            # Bash takes what follows a = for a word of its own.
            case ${COMP_WORDS[COMP_CWORD]}:${COMP_WORDS[COMP_CWORD - 1]} in
            =:* | *:=) word=${word#*=} ;;
            esac
            COMPREPLY+=("$word")
        done
    } < <(command "${COMP_WORDS[0]}" complete-words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    case $kind in
    files) compopt -o default ;;
    parts) compopt -o nospace ;;
    esac
}
complete -F _ftgo ftgo
