import Bundles
import Testing

@Suite("Bundle errors")
struct BadBundleTests {
    struct Bad: CustomTestStringConvertible {
        let text: String
        let place: String
        let words: String
        var testDescription: String { words }

        init(_ text: String, _ place: String, _ words: String) {
            (self.text, self.place, self.words) = (text, place, words)
        }
    }

    static let inFormat = [
        Bad("", "1:1", "name is missing"),
        Bad("[]", "1:1", "the bundle needs an object"),
        Bad("name: test", "1:1", "steps is missing"),
        Bad("name: test\nsteps: []", "2:8", "no step"),
        Bad("name: test\nsteps: {}", "2:8", "steps needs a list"),
        Bad("name: Test Me\nsteps:\n  - action: version", "1:7", "lower-case"),
        Bad("name: 5\nsteps:\n  - action: version", "1:7", "name needs text"),
        Bad(bundle("stepz: []"), "2:1", "stepz is not known here; did you mean 'steps'?"),
        Bad(bundle("needs: chat"), "2:8", "needs needs a list"),
        Bad(bundle("needs: [1]"), "2:9", "needs[0] needs text"),
        Bad(bundle("parallel: 0"), "2:11", "from 1 to 1000"),
        Bad(bundle("timeout: soon"), "2:10", "needs a duration"),
        Bad(bundle("schedule: {}"), "2:11", "either every or cron"),
        Bad(bundle("schedule: {every: 5m, cron: '0 3 * * *'}"), "2:11", "either every or cron"),
        Bad(bundle("schedule: {cron: daily}"), "2:18", "a crontab line has five"),
        Bad(bundle("schedule: {cron: '60 * * * *'}"), "2:18", "the minute '60' must be from 0 to 59"),
        Bad(bundle("schedule: {every: 0s}"), "2:19", "more than 0"),
        Bad(bundle("inputs: {x: {type: text}}"), "2:20", "one of string, integer"),
        Bad(bundle("inputs: {x: {typ: string}}"), "2:14", "did you mean 'type'?"),
        Bad(bundle("inputs: {x: {type: choice}}"), "2:13", "needs choices"),
        Bad(bundle("inputs: {x: {choices: [a]}}"), "2:14", "of type choice"),
        Bad(bundle("inputs: {x: {type: integer, default: one}}"), "2:38", "the default needs a whole number"),
        Bad(bundle("inputs: {x: {type: choice, choices: [a], default: b}}"), "2:51", "one of a"),
        Bad(bundle("inputs: {'a b': {}}"), "2:10", "letters, digits"),
        Bad(bundle("env: {'A-B': x}"), "2:7", "letters, digits and _"),
        Bad(bundle("env: {A: {secrets: x}}"), "2:11", "known keys: secret, variable, default"),
        Bad(bundle("env: {A: {}}"), "2:10", "must be text"),
        Bad(bundle("permissions: {effects: all}"), "2:24", "one of reads, writes, destroys"),
        Bad(bundle("permissions: {hosts: example.com}"), "2:22", "needs a list"),
        Bad(
            bundle("permissions: {paths: [a, /nowhere]}"), "2:23",
            "cannot open the folder a: the folder where the run began is gone"),
        Bad(
            bundle("env: {A: {secret: openai}}"), "2:10",
            "may not read the secret openai; add secrets: [\"openai\"] to permissions"),
        Bad(
            bundle("permissions: {secrets: [ci-*]}\nenv: {A: {secret: openai}}"), "3:10",
            "may not read the secret openai; add \"openai\" to permissions.secrets"),
        Bad(bundle(step: "id: x"), "3:5", "needs an action or a bundle"),
        Bad(bundle(step: "action: version\nbundle: b"), "4:5", "not both"),
        Bad(bundle(step: "action: [version]"), "3:13", "needs text"),
        Bad(bundle(step: "id: Mine\naction: version"), "3:9", "an id must consist of"),
        Bad(bundle(step: "action: version\nuses: x"), "4:5", "uses is not known"),
        Bad(bundle(step: "action: version\nwith: [1]"), "4:11", "needs an object"),
        Bad(bundle(step: "action: version\nif: 'a ='"), "4:12", "is not valid here"),
        Bad(bundle(step: "action: version\nif: x${{ true }}"), "4:9", "single expression"),
        Bad(bundle(step: "action: version\nparallel: 2"), "4:5", "matrix or foreach"),
        Bad(bundle(step: "action: version\nmatrix: {}"), "4:13", "matrix is empty"),
        Bad(bundle(step: "action: version\nmatrix: {a: x}"), "4:17", "must be a list"),
        Bad(bundle(step: "action: version\nmatrix: {a: []}"), "4:17", "is empty"),
        Bad(bundle(step: "action: version\nmatrix: {a: [1], include: [2]}"), "4:31", "list of objects"),
        Bad(bundle(step: "action: version\nmatrix: {a: [1]}\nforeach: [1]"), "5:5", "not both"),
        Bad(bundle(step: "action: version\nforeach: x"), "4:14", "must be a list"),
        Bad(bundle(step: "action: version\nretry: {}"), "4:12", "the step 'step-1': retry.times is missing"),
        Bad(bundle(step: "id: ask\naction: version\nretry: {}"), "5:12", "the step 'ask': retry.times is missing"),
        Bad(bundle(step: "action: version\nretry: {times: 0}"), "4:20", "from 1 to 100"),
        Bad(bundle(step: "action: version\nretry: {times: 1, on: [0]}"), "4:28", "from 1 to 255"),
        Bad(bundle(step: "action: version\ntimeout: 0s"), "4:14", "more than 0"),
        Bad(bundle(step: "action: version\ncontinue-on-error: yes"), "4:24", "true or false"),
        Bad(bundle(step: "action: version\ncache: {key: a}"), "4:12", "for is missing"),
        Bad(bundle(step: "bundle: ${{ inputs.x }}"), "3:13", "contain expressions"),
    ]

    static let inNames = [
        Bad(
            bundle(step: "id: a\naction: version\n") + "  - id: a\n    action: version\n", "5:9",
            "is already used in line 3"),
        Bad(bundle(step: "action: version\nneeds: [b]"), "4:13", "no step 'b' here"),
        Bad(bundle(step: "id: a\naction: version\nneeds: [a]"), "5:12", "a needs a"),
        Bad(
            "name: t\nsteps:\n  - {id: a, action: version, needs: [c]}\n  - {id: b, action: version}\n"
                + "  - {id: c, action: version}\n", "3:37", "a needs c needs b needs a"),
        Bad(
            "name: t\nsteps:\n  - {id: a, action: version, needs: [z]}\nfinally:\n  - {id: z, action: version}\n",
            "3:38",
            "run after all others"),
        Bad(bundle(step: "action: ask\nwith: {message: '${{ input.x }}'}"), "4:26", "did you mean 'inputs'?"),
        Bad(bundle(step: "action: ask\nwith: {message: '${{ inputs.x }}'}"), "4:26", "unknown input 'x'"),
        Bad(bundle(step: "action: ask\nwith: {message: '${{ env.X }}'}"), "4:26", "unknown env value 'X'"),
        Bad(bundle(step: "action: ask\nwith: {message: '${{ matrix.x }}'}"), "4:26", "has no matrix"),
        Bad(bundle(step: "action: ask\nwith: {message: '${{ each.value }}'}"), "4:26", "has no foreach"),
        Bad(
            bundle(step: "action: ask\nmatrix: {a: [1]}\nwith: {message: '${{ matrix.b }}'}"), "5:26",
            "unknown matrix value 'b'"),
        Bad(
            bundle(step: "action: ask\nforeach: [1]\nwith: {message: '${{ each.item }}'}"), "5:26",
            "unknown value of each 'item'"),
        Bad(bundle(step: "action: ask\nwith: {message: '${{ steps.x.result }}'}"), "4:26", "unknown step 'x'"),
        Bad(
            "name: t\nsteps:\n  - {id: a, action: version, needs: []}\n"
                + "  - {id: b, action: ask, needs: [], with: {message: '${{ steps.a.result }}'}}\n", "4:58",
            "add it to 'needs'"),
        Bad(
            bundle(step: "id: a\naction: version")
                + "  - action: ask\n    with: {message: '${{ steps.a.results }}${{ steps.a.reslt }}'}\n",
            "6:48", "did you mean 'result"),
        Bad(bundle(step: "action: ask\nwith: {message: '${{ run.number }}'}"), "4:26", "unknown value of the run"),
        Bad(bundle(step: "action: ask\nwith: {message: '${{ failed() }}'}"), "4:21", "only in the 'if'"),
        Bad(bundle(step: "action: ask\nwith: {message: '${{ 1 + }}'}"), "4:30", "expected a value"),
        Bad(bundle("env: {A: '${{ env.B }}'}"), "2:15", "unknown name 'env'"),
        Bad(bundle("outputs: {a: '${{ steps.b }}'}"), "2:19", "unknown step 'b'"),
    ]

    static let inSurroundings = [
        Bad(
            bundle("permissions: {effects: writes}", step: "action: ask\nwith: {message: \"${{ always() }}\"}"), "5:21",
            "always() is allowed only in the 'if' of a step"),
        Bad(bundle(step: "action: files.list"), "3:13", "unknown action 'files.list': the feature files is off"),
        Bad(bundle(step: "action: versoin"), "3:13", "unknown action 'versoin'; did you mean 'version'?"),
        Bad(bundle(step: "action: bash.run"), "3:13", "'shell.run' runs a program"),
        Bad(bundle(step: "action: http.get"), "3:13", "'http.request' sends a request"),
        Bad(
            bundle(step: "action: chat.summarise"), "3:13",
            "'chat.summarise'; available: chat.delete, chat.list, chat.send"),
        Bad(bundle(step: "action: weather"), "3:13", "'martlet help' lists the commands"),
        Bad(bundle("needs: [chatt]"), "2:9", "no feature 'chatt'"),
        Bad(bundle(step: "action: monitor.snapshot"), "3:13", "monitor is off"),
        Bad(bundle(step: "action: ask\nwith: {message: hi}"), "3:13", "does not permit it"),
        Bad(
            bundle("permissions: {effects: writes}", step: "action: chat.delete\nwith: {conversation: a, now: true}"),
            "4:13", "destroys something"),
        Bad(
            bundle("permissions: {effects: writes}", step: "action: data.remove\nwith: {names: [a]}"), "4:13",
            "destroys something"),
        Bad(
            bundle("permissions: {actions: [chat]}", step: "action: ask\nwith: {message: hi}"), "4:13",
            "does not permit it"),
        Bad(bundle("permissions: {actions: [chat.*]}", step: "action: ask"), "4:5", "chat.send needs 'message'"),
        Bad(bundle(step: "action: chat.list\nwith: {limt: 1}"), "4:12", "did you mean 'limit'?"),
        Bad(bundle(step: "action: chat.list\nwith: {limit: many}"), "4:19", "needs a whole number"),
        Bad(bundle(step: "action: chat.list\nwith: {limit: 1000}"), "4:19", "from 1 to 100"),
        Bad(
            bundle(step: "id: v\naction: version") + "  - action: chat.list\n    if: steps.v.result.versions == '1'\n",
            "6:9",
            "v.result has no 'versions'; did you mean 'version'?"),
        Bad(
            bundle(step: "id: v\naction: version")
                + "  - action: chat.list\n    if: steps.v.result.version.major == 1\n", "6:9",
            "is not an object"),
        Bad(bundle("outputs: {a: '${{ steps.v.result.x }}'}", step: "id: v\naction: version"), "2:19", "has no 'x'"),
        Bad(bundle(step: "bundle: missing.yaml"), "3:13", "cannot run 'missing.yaml'"),
        Bad(bundle(step: "bundle: self.yaml"), "self.yaml:3:13", "b.yaml runs self.yaml runs self.yaml"),
        Bad(bundle(step: "bundle: inner.yaml\nwith: {b: 1}"), "4:12", "not an input of inner"),
        Bad(bundle(step: "bundle: inner.yaml"), "3:5", "needs the input 'a'"),
        Bad(bundle(step: "bundle: inner.yaml\nwith: {a: x}"), "4:15", "needs a whole number"),
    ]

    static let others = [
        "inner.yaml": "name: inner\ninputs: {a: {type: integer}}\nsteps:\n  - action: version\n",
        "self.yaml": "name: self\nsteps:\n  - bundle: self.yaml\n",
    ]

    @Test("A format error is reported with its place", arguments: inFormat)
    func format(bad: Bad) { check(bad) }

    @Test("An error in names or expressions is reported with its place", arguments: inNames)
    func names(bad: Bad) { check(bad) }

    @Test("A bundle that the program cannot run is reported with the place of the error", arguments: inSurroundings)
    func surroundings(bad: Bad) { check(bad) }

    private func check(_ bad: Bad) {
        let found = problems(of: bad.text, others: Self.others)
        #expect(
            found.contains { $0.hasPrefix("\(bad.place): ") && $0.contains(bad.words) },
            "\(bad.text)\nfound: \(found.joined(separator: "\n       "))")
    }

    @Test("All errors are reported at once, including those that only the program knows, without follow-up errors")
    func onePass() {
        let text = """
            name: X
            permissions: {actions: [chat.send]}
            steps:
              - {action: chat.sned, retry: {}}
              - {id: ask, action: ask, with: {message: "${{ 1 + }}", txt: "${{ nobody }}", temperature: 9}}
              - {uses: nothing}
              - {action: data.remove, with: {names: ["${{ }}", 1]}, timeout: soon}
              - {bundle: broken.yaml}
            """
        let found = problems(of: text, others: ["broken.yaml": "name: broken\nsteps: [{action: versoin}, {}]\n"])
        let expected = [
            "1:7: the name", "4:14: unknown action 'chat.sned'", "4:32: the step 'step-1': retry.times is missing",
            "5:53: expected a value", "5:58: 'txt' is not a parameter of chat.send",
            "5:68: unknown name 'nobody'", "5:93: with.temperature", "6:5: the step needs an action",
            "6:6: the step 'step-3': uses is not known", "7:14: data.remove destroys something",
            "7:47: expected a value", "7:66: the step 'step-4': timeout needs a duration",
            "8:14: cannot run 'broken.yaml'", "broken.yaml:2:18: unknown action 'versoin'",
            "broken.yaml:2:28: the step needs an action",
        ]
        #expect(found.count == expected.count, "\(found.joined(separator: "\n"))")
        for (line, words) in zip(found, expected) { #expect(line.hasPrefix(words), "\(line)") }
    }

    @Test("All errors are reported at once, in the order of the lines")
    func everything() {
        let text = """
            name: X
            stepz: 1
            steps:
              - action: versoin
              - {action: version, if: "1 +"}
              - {id: step-1, action: version}
            """
        let found = problems(of: text)
        #expect(found.map { $0.prefix(while: { $0 != ":" }) } == ["1", "2", "4", "5", "6"], "\(found)")
    }

    @Test("A file that is not text, too large or not UTF-8 is rejected")
    func files() {
        func first(_ bytes: [UInt8], _ file: String = "b.yaml") -> String {
            do throws(BundleFailure) {
                _ = try BundleSource(bytes, file: file)
                return ""
            } catch {
                return error.message
            }
        }
        #expect(first([0x7F, 0x45, 0x4C, 0x46, 0, 0, 1]).contains("b.yaml:1:1: this is not text"))
        #expect(first([UInt8](repeating: 0x20, count: 100 << 20)).contains("larger than"))
        #expect(first([0xFF, 0xFE, 0x61]).contains("b.yaml:1:1: "))
        #expect(first(Array("{name: 'a', name: 'b'}".utf8), "b.json5").contains("b.json5:1:13: "))
        #expect(first(Array("name: a\nsteps:\n\t- x".utf8)).contains("indent with spaces"))
        #expect(first([0xEF, 0xBB, 0xBF] + Array("name: a".utf8)) == "")
    }

    @Test("A cycle of ten thousand steps is reported without a stack overflow")
    func longCircle() {
        var text = "name: t\nsteps:\n  - {id: s0, action: version, needs: [s9999]}\n"
        for index in 1..<10_000 { text += "  - {id: s\(index), action: version}\n" }
        let found = problems(of: text)
        #expect(found.count == 1 && found[0].contains("wait for each other"))
    }
}
