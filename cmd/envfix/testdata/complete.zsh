# usage: zsh -f complete.zsh FOLDER LINE…
# Prints each line as an interactive zsh completes it at Tab. FOLDER holds _envfix.
zmodload zsh/zpty
zpty shell "TERM=dumb zsh -f -i"
until_line() { # reads up to a line that holds $1
  while zpty -r shell answer; do [[ $answer == *${~1}* ]] && return; done
}
zpty -w shell "PS1= RPS1= PROMPT_EOL_MARK=; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D; LISTMAX=9999"
zpty -w shell "show() { print -r -- \"<BE\"\"GIN>\$BUFFER<E\"\"ND>\"; BUFFER=; }; zle -N show; bindkey '^X^X' show; print '<REA'DY\\>"
until_line "\<READY\>"
shift
for line; do
  zpty -w -n shell "$line"$'\t\x18\x18'
  until_line "\<BEGIN\>*\<END\>"
  print -r -- "${${answer##*<BEGIN>}%%<END>*}"
done
zpty -d shell
