import Testing

@testable import CommandLineFrontend

@Suite("Completion scripts")
struct ShellScriptTests {
    @Test(
        "A completion script is valid in its shell",
        arguments: CompletionShell.allCases.filter { isInstalled("command -v \($0.rawValue)") })
    func syntax(shell: CompletionShell) throws {
        let script = ShellScripts.script(for: shell, program: "my-bench")
        let (text, status) = try output(of: "\(shell.rawValue) -n", given: script)
        #expect(status == 0)
        #expect(text == "")
    }

    @Test("The name of the function is valid for any program name")
    func names() {
        #expect(ShellScripts.script(for: .bash, program: "my-bench.2").contains("complete -F _my_bench_2 my-bench.2"))
    }
}
