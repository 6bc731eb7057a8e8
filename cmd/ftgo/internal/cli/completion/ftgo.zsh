#compdef ftgo
# zsh completion for ftgo: put this file as _ftgo into a directory of $fpath, or source it.
_ftgo() {
    local line
    local -a found texts
    for line in "${(@f)$(command "${words[1]}" complete-words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        found+=("${line%%$'\t'*}")
        texts+=("${line/$'\t'/  -- }")
    done
    if [ -n "$found[1]" ]; then
        compadd -l -d texts -- "${(@)found}"
    else
        _files
    fi
}
if [ "$funcstack[1]" = _ftgo ]; then
    _ftgo "$@"
else
    compdef _ftgo ftgo
fi
