/** Each asks the command that is typed, so that another one of the same name, or path, completes by itself. */
export const scripts = {
  bash: `# purser: completion for bash. To have it: source <(purser completion bash)
_purser() {
  local IFS=$'\\n'
  COMPREPLY=($("$1" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _purser purser
`,
  zsh: `#compdef purser
# purser: completion for zsh. To have it: source <(purser completion zsh), after compinit
_purser() {
  local -a found
  found=(\${(f)"$("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( \${#found} )); then
    compadd -a found
  else
    _files
  fi
}
if [[ "\${funcstack[1]}" == _purser ]]; then
  _purser "$@"
else
  compdef _purser purser
fi
`,
  fish: `# purser: completion for fish. To have it: purser completion fish | source
function __purser_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found ($words[1] complete -- $words[2..-1] 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c purser -f -a '(__purser_complete)'
`,
} as const
