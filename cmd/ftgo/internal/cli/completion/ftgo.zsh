#compdef ftgo
# zsh completion for ftgo: put this file as _ftgo into a directory of $fpath, or source it.
_ftgo() {
    local kind line
    local -a lines found texts
    lines=("${(@f)$(command "${words[1]}" complete-words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    kind=$lines[1]
    for line in "${(@)lines[2,-1]}"; do
        found+=("${line%%$'\t'*}")
        texts+=("${line/$'\t'/  -- }")
    done
    case $kind in
    files) _files ;;
    parts) compadd -S '' -- "${(@)found}" ;;
    words) compadd -l -d texts -- "${(@)found}" ;;
    esac
}
if [ "$funcstack[1]" = _ftgo ]; then
    _ftgo "$@"
else
    compdef _ftgo ftgo
fi
