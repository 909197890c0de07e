import ArgumentParser
import Foundation

/// The completion scripts of the argument parser, so mended that every offered word is quoted for the command line, and
/// that files are offered beside the peers of `waft send`.
enum CompletionScript {
    /// The mended script; nil for a text that is no script of a shell, or needs no change.
    static func mended(_ script: String) -> String? {
        quotingForBash(script) ?? quotingForZsh(script) ?? withFilesForFish(script)
    }

    /// The call of the program for the items of `waft send`.
    private static let sendItems = "__waft_custom_complete ---completion send -- positional@0"

    /// The script says `complete -o filenames`. With this option readline quotes the words of existing files only,
    /// and bash would run a command in any other name, such as `` $[`reboot`]plan.pdf ``, at the Enter key.
    private static func quotingForBash(_ script: String) -> String? {
        guard script.hasPrefix("#!/bin/bash"),
            let match = script.firstMatch(of: /\ncomplete -o filenames -F _([a-z]+) [a-z]+\n?$/)
        else { return nil }
        let program = String(match.1)
        let body = String(script[..<match.range.lowerBound])
            // Without a typed hyphen the options are no answer: readline would put their common beginning, `-`.
            .replacing(
                #"[[ ("${cur}" = -* && "${positional_number}" -ge 0) || "${positional_number}" -eq -1 ]]"#,
                with: #"[[ "${cur}" = -* && "${positional_number}" -ge -1 ]]"#
            )
            .replacing(
                #"        __waft_add_completions -W "$(\#(sendItems)"#,
                with: #"""
                            __waft_add_completions -f
                            [[ "${#COMPREPLY[@]}" -gt 0 ]] && return
                            compopt +o filenames 2>/dev/null
                            __waft_add_completions -W "$(\#(sendItems)
                    """#)
        return body + "\n" + functionsOfBash.replacing("PROGRAM", with: program)
            + "\n\ncomplete -F _\(program) \(program)"
    }

    /// Zsh quotes the words itself, but the history's `!` only while its option is on.
    private static func quotingForZsh(_ script: String) -> String? {
        guard script.hasPrefix("#compdef"), script.contains(" banghist\n") else { return nil }
        return script.replacing(" banghist\n", with: "\n")
            .replacing("{\(sendItems)", with: "{_files; \(sendItems)")
            .replacing(/local -ar arg_specs=\(\n(?:        .*\n)+/) { match in
                // Behind the last word zsh would offer the options, and put their common beginning, `-`.
                match.output.contains("\n        '*:") || match.output.contains("->command")
                    ? String(match.output) : match.output + "        '*: :{:}'\n"
            }
    }

    /// Fish offers no files beside the words of a program, unless it is told to.
    private static func withFilesForFish(_ script: String) -> String? {
        let items = "a '(__waft_custom_completion ---completion send -- positional@0"
        guard script.contains("complete -c "), script.contains("-fk" + items) else { return nil }
        return script.replacing("-fk" + items, with: "-Fk" + items)
    }

    /// The second function replaces one of the parser's script. It reads `cur`, the typed word.
    private static let functionsOfBash = #"""
        # The quotation mark that is open where the cursor stands.
        __PROGRAM_open_quote() {
            local -r line="${COMP_LINE:0:COMP_POINT}"
            local -i index
            local open='' character
            for ((index = 0; index < ${#line}; index++)); do
                character="${line:index:1}"
                if [[ "${open}" = "'" ]]; then
                    [[ "${character}" = "'" ]] && open=''
                elif [[ "${character}" = '\' ]]; then
                    ((index += 1))
                elif [[ "${open}" = '"' ]]; then
                    [[ "${character}" = '"' ]] && open=''
                elif [[ "${character}" = ["'\""] ]]; then
                    open="${character}"
                fi
            done
            printf %s "${open}"
        }

        # Files exist: readline quotes them. All other words are quoted here.
        __PROGRAM_add_completions() {
            local word quoted
            if [[ "${1}" != -W ]]; then
                compopt -o filenames 2>/dev/null
                while IFS='' read -r word; do
                    COMPREPLY+=("${word}")
                done < <(IFS=$'\n' compgen "${@}" -- "${cur}")
                return
            fi
            local open
            open="$(__PROGRAM_open_quote)"
            while IFS='' read -r word; do
                case "${open}" in
                "'")
                    quoted="${word//\'/\'\\\'\'}"
                    ;;
                '"')
                    quoted="${word//\\/\\\\}"
                    quoted="${quoted//\"/\\\"}"
                    quoted="${quoted//\$/\\\$}"
                    quoted="${quoted//\`/\\\`}"
                    # Within double quotes a backslash before it would become a part of the word.
                    quoted="${quoted//\!/\"\\\!\"}"
                    ;;
                *)
                    printf -v quoted %q "${word}"
                    # A folder below the home that was typed with a tilde.
                    [[ "${cur}" = \~/* && "${quoted}" = \\\~/* ]] && quoted="${quoted:1}"
                    ;;
                esac
                # Readline closes the quotation, but for a word that ends with the mark.
                [[ -n "${open}" && "${quoted}" = *"${open}" ]] && quoted+="${open}"
                COMPREPLY+=("${quoted}")
            done < <(IFS=$'\n' compgen "${@}" -- "${cur}")
        }
        """#
}
