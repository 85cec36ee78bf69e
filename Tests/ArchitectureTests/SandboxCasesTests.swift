import Testing
import WorkspaceSupport

/// The sandbox cases: the ways out that are known of sandboxes and of questions about them, by their numbers. Each is shown
/// by a test that names it, or has a reason here why there is none.
private enum SandboxCases {
    static let all = 1...88

    static let unshown: [Int: String] = [
        17:
            "not shown: where the machine shares its mounts, as most do, a file system that is mounted beneath a place which"
            + " a command sees is seen by it too, and is written as its owner may",
        19:
            "not shown: no name tells a hard link from its file, so that a command that writes one in its folder writes the"
            + " file elsewhere",
        31:
            "not shown: rules know a file by its paths, so that one which an administrator mounts a second time has a path"
            + " that no rule speaks of",
        50: "about a relay beside the command to the hosts that it may reach, which there is none of here",
        51: "about a proxy for the hosts that a command may reach, which there is none of here",
        56: "about a proxy for the hosts that a command may reach, which there is none of here",
        57: "about a proxy for the hosts that a command may reach, which there is none of here",
        58: "about a proxy for the hosts that a command may reach, which there is none of here",
        59: "about denials of single hosts, which there are none of here: hosts are only permitted, by name",
        75: "about tools of servers that are connected to, which there are none of here",
        82: "about programs that answer a question for the person, which there are none of here",
        88: "about commands that a list leaves out of the sandbox, which there is none of here",
    ]

    /// The numbers that a text names, as `sandbox case 7` or `sandbox cases 7, 8 and 9`.
    static func numbers(in text: String) -> Set<Int> {
        let lists = text.matches(of: /\bsandbox cases? (\d+(?:(?:, | and )\d+)*)/).map(\.output.1)
        return Set(lists.flatMap { $0.matches(of: /\d+/).compactMap { Int($0.output) } })
    }

    /// What is wrong with the tests and the reasons, as sentences.
    static func problems(named: Set<Int>, unshown: [Int: String]) -> [String] {
        let unknown = named.union(unshown.keys).subtracting(all).sorted().map { "there is no sandbox case \($0)" }
        return unknown
            + all.compactMap { number in
                let isNamed = named.contains(number)
                guard let reason = unshown[number] else {
                    return isNamed ? nil : "sandbox case \(number) is named by no test and has no reason"
                }
                if isNamed { return "sandbox case \(number) is named by a test, so that its reason can go" }
                return reason.allSatisfy(\.isWhitespace) ? "the reason of sandbox case \(number) says nothing" : nil
            }
    }
}

@Test("Every known sandbox escape is named by a test, or has a reason why there is none")
func sandboxCasesAreShown() throws {
    let workspace = Workspace.current
    let tests = try workspace.files(in: "Packages", ending: ".swift").filter { $0.contains("/Tests/") }
    let programs = try workspace.files(in: "Tests", ending: ".swift").filter {
        !$0.hasSuffix("/SandboxCasesTests.swift")
    }
    var named: Set<Int> = []
    for file in tests + programs { named.formUnion(SandboxCases.numbers(in: try workspace.text(file))) }
    #expect(SandboxCases.problems(named: named, unshown: SandboxCases.unshown) == [])
}

@Test("The numbers of sandbox cases are found in each form, and no others")
func findsSandboxCases() {
    #expect(SandboxCases.numbers(in: "// sandbox case 7\n// sandbox cases 8, 9 and 10. More, 11.") == [7, 8, 9, 10])
    #expect(SandboxCases.numbers(in: "/// Words: sandbox case 9. One has a hook: sandbox case 8.") == [8, 9])
    #expect(SandboxCases.numbers(in: "case 7, sandbox 8, sandbox cases \\(a), mysandbox case 9").isEmpty)
}

@Test(
    "A sandbox case with neither or both of a test and a reason, with an empty reason, or that does not exist is reported"
)
func judgesSandboxCases() {
    let named = Set(SandboxCases.all).subtracting([3, 4])
    #expect(SandboxCases.problems(named: named, unshown: [3: "a", 4: "b"]) == [])
    #expect(
        SandboxCases.problems(named: named.union([89]), unshown: [4: " ", 5: "c"]) == [
            "there is no sandbox case 89", "sandbox case 3 is named by no test and has no reason",
            "the reason of sandbox case 4 says nothing",
            "sandbox case 5 is named by a test, so that its reason can go",
        ])
}
