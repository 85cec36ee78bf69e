import Testing

@testable import CommandLineFrontend

@Suite("A completion script")
struct ShellScriptTests {
    @Test(
        "is understood by its shell",
        arguments: CompletionShell.allCases.filter { isInstalled("command -v \($0.rawValue)") })
    func syntax(shell: CompletionShell) throws {
        let script = ShellScripts.script(for: shell, program: "my-bench")
        let (text, status) = try output(of: "\(shell.rawValue) -n", given: script)
        #expect(status == 0)
        #expect(text == "")
    }

    @Test("names a function that any program name allows")
    func names() {
        #expect(ShellScripts.script(for: .bash, program: "my-bench.2").contains("complete -F _my_bench_2 my-bench.2"))
    }
}
