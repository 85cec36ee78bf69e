import Capabilities

/// The shells that can complete our commands.
enum CompletionShell: String, Choice {
    case bash, zsh, fish
}

/// Scripts that ask the program itself what may come next, so that they are never out of date.
enum ShellScripts {
    static func script(for shell: CompletionShell, program: String) -> String {
        let function = "_" + program.map { $0.isLetter || $0.isNumber ? String($0) : "_" }.joined()
        return switch shell {
        case .bash: bash(program, function)
        case .zsh: zsh(program, function)
        case .fish: fish(program, function)
        }
    }

    private static func bash(_ program: String, _ function: String) -> String {
        """
        # Completion of \(program) for bash: source <(\(program) completion bash)
        \(function)() {
            local line word before= count=0 current=${COMP_WORDS[COMP_CWORD]}
            local -a words=()
            # bash cuts --name=value at its = and expects only what follows it.
            for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
                if (( count )) && [[ $word == = || $before == = ]]; then
                    words[count-1]+=$word
                else
                    words[count++]=$word
                fi
                before=$word
            done
            [[ $current == = ]] && current=
            COMPREPLY=()
            while IFS= read -r line; do
                line=${line%%$'\\t'*}
                case $line in
                    :files) compopt -o filenames; mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current") ;;
                    :folders) compopt -o filenames; mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$current") ;;
                    *=*)
                        [[ $line == *= ]] && compopt -o nospace
                        [[ ${words[count-1]} == *=* ]] && line=${line#"${words[count-1]%=*}="}
                        COMPREPLY+=("$line") ;;
                    *) COMPREPLY+=("$line") ;;
                esac
            done < <(\(program) completion words -- "${words[@]}" 2>/dev/null)
        }
        complete -F \(function) \(program)

        """
    }

    private static func zsh(_ program: String, _ function: String) -> String {
        """
        #compdef \(program)
        # Completion of \(program) for zsh: source <(\(program) completion zsh)
        \(function)() {
            local line found=1
            local -a candidates
            while IFS= read -r line; do
                case $line in
                    :files) _files && found=0 ;;
                    :folders) _files -/ && found=0 ;;
                    *) candidates+=("${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}") ;;
                esac
            done < <(\(program) completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)
            (( ${#candidates} )) && _describe '\(program)' candidates && found=0
            return found
        }
        # A file of $fpath is run as the function itself at the first Tab. Without compinit, zsh would complete files.
        if [[ ${funcstack[1]-} == \(function) ]]; then
            \(function) "$@"
        else
            (( ${+functions[compdef]} )) || { autoload -Uz compinit && compinit -i }
            compdef \(function) \(program)
        fi

        """
    }

    private static func fish(_ program: String, _ function: String) -> String {
        """
        # Completion of \(program) for fish: \(program) completion fish | source
        function \(function)
            set -l words (commandline -opc) (commandline -ct)
            for line in (\(program) completion words -- $words[2..-1] 2>/dev/null)
                switch $line
                    case :files
                        __fish_complete_path (commandline -ct)
                    case :folders
                        __fish_complete_directories (commandline -ct)
                    case '*'
                        echo $line
                end
            end
        end
        complete -c \(program) -f -a '(\(function))'

        """
    }
}
