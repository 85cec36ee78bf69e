import Bundles
import Capabilities
import FileKit
import JSON
import Runs
import Testing

@Suite("Steps")
struct OrderTests {
    @Test("Steps run in the order of the file, and later steps see the results")
    func sequence() async throws {
        try await withLab { lab in
            let performer = TestPerformer(["echo": { arguments, _ in arguments["value"] ?? .null }])
            let run = try await lab.run(
                """
                name: t
                inputs: {name: {default: Ada}}
                steps:
                  - {id: a, action: echo, with: {value: "${{ inputs.name }}"}}
                  - {id: b, action: echo, with: {value: {said: "${{ steps.a.result }}!", list: [1, "${{ 1 + 1 }}"]}}}
                  - {id: c, action: echo, with: {value: "${{ steps.b.result.list[1] + 1 }}"}}
                outputs: {sum: "${{ steps.c.result }}", status: "${{ steps.a.status }}"}
                """, performer)
            #expect(run.states == ["a: ok", "b: ok", "c: ok"])
            #expect(run.result("b") == ["said": "Ada!", "list": [1, 2]])
            #expect(run.summary.outputs == ["sum": 3, "status": "ok"] && run.summary.exit == .done)
        }
    }

    @Test("Independent steps run in parallel, up to the limit", arguments: [1, 2, 8])
    func parallel(width: Int) async throws {
        try await withLab { lab in
            let gate = Gate(min(width, 4))
            let performer = TestPerformer(["meet": { _, _ in await gate.meet() }])
            let run = try await lab.run(
                """
                name: t
                parallel: \(width)
                steps:
                  - {id: a, action: meet, needs: []}
                  - {id: b, action: meet, needs: []}
                  - {id: c, action: meet, needs: []}
                  - {id: d, action: meet, needs: []}
                  - {id: e, action: last, needs: [a, b, c, d]}
                """, performer)
            #expect(run.summary.status == .ok && performer.most == min(width, 4))
            #expect(performer.calls.last == "last")
        }
    }

    @Test("The default number of parallel steps is the number of processors") func processors() throws {
        let info = String(decoding: try Files.read("/proc/cpuinfo", limit: 1 << 24), as: UTF8.self)
        #expect(RunOptions().parallel == info.split(separator: "\n").count { $0.hasPrefix("processor") })
    }

    @Test("A failed step blocks only the steps that need it")
    func failure() async throws {
        try await withLab { lab in
            let performer = TestPerformer(["fail": { _, _ in throw TestFailure("no luck", exit: .denied) }])
            let run = try await lab.run(
                """
                name: t
                steps:
                  - {id: a, action: fail}
                  - {id: b, action: x}
                  - {id: c, action: x, if: always()}
                  - {id: d, action: x, if: "failed() && steps.a.exit == 3", needs: [a]}
                  - {id: e, action: x, needs: []}
                  - {id: f, action: x, needs: [e]}
                  - {id: g, action: x, needs: [a], if: "true"}
                finally:
                  - {id: z, action: report, with: {why: "${{ steps.a.error.message }}", bad: "${{ run.failed }}"}}
                  - {id: y, action: x, if: failed()}
                """, performer)
            #expect(
                Set(run.states) == [
                    "a: failed", "b: blocked", "c: ok", "d: ok", "e: ok", "f: ok", "g: blocked", "z: ok", "y: skipped",
                ])
            #expect(run.result("z") == ["why": "no luck", "bad": true])
            #expect(
                run.summary.status == .failed && run.summary.exit == .denied && run.summary.error?.code == "test.failed"
            )
        }
    }

    @Test("A step with continue-on-error does not stop the run")
    func forgiven() async throws {
        try await withLab { lab in
            let performer = TestPerformer(["fail": { _, _ in throw TestFailure("no luck", exit: .failed) }])
            let run = try await lab.run(
                """
                name: t
                steps:
                  - {id: a, action: fail, continue-on-error: true}
                  - {id: b, action: x}
                  - {id: c, action: x, if: "false"}
                  - {id: d, action: x, if: "steps.a.status == 'failed'"}
                """, performer)
            #expect(run.states == ["a: failed", "b: ok", "c: skipped", "d: ok"])
            #expect(run.summary.status == .ok && run.summary.exit == .done)
        }
    }

    @Test("A step runs for each combination or item, and the results keep their order")
    func spread() async throws {
        try await withLab { lab in
            let performer = TestPerformer(["echo": { arguments, _ in arguments["value"] ?? .null }])
            let run = try await lab.run(
                """
                name: t
                parallel: 4
                steps:
                  - id: m
                    action: echo
                    matrix: {a: [1, 2], b: [x, y], exclude: [{a: 2, b: x}]}
                    with: {value: "${{ matrix.a }}${{ matrix.b }}"}
                  - id: f
                    action: echo
                    foreach: "${{ steps.m.result }}"
                    parallel: 2
                    with: {value: "${{ each.index }}:${{ each.value }}"}
                  - {id: none, action: echo, foreach: "${{ [] }}"}
                """, performer)
            #expect(run.result("m") == ["1x", "1y", "2y"] && run.result("f") == ["0:1x", "1:1y", "2:2y"])
            #expect(run.result("none") == [] && run.summary.status == .ok)
            #expect(run.summary.steps.contains { $0.key == "m[a=2,b=y]" })
        }
    }

    @Test("Runs whose values look the same have different keys")
    func sameWords() async throws {
        try await withLab { lab in
            let performer = TestPerformer(["echo": { arguments, _ in arguments["value"] ?? .null }])
            let run = try await lab.run(
                """
                name: t
                steps:
                  - id: m
                    action: echo
                    matrix: {x: [1, "1", "1#2", 1.0]}
                    with: {value: "${{ matrix.x }}"}
                """, performer)
            #expect(run.result("m")?.array?.count == 4 && run.summary.status == .ok)
            let keys = run.summary.steps.map(\.key).filter { $0.hasPrefix("m[") }
            #expect(keys.count == 4 && Set(keys).count == 4, "\(keys)")
            #expect(keys.contains("m[x=1]") && keys.contains("m[x=1#2]"))
        }
    }

    @Test("A step fails if one of its runs fails, and the other runs go on")
    func spreadFailure() async throws {
        try await withLab { lab in
            let performer = TestPerformer([
                "odd": { arguments, _ in
                    if let value = arguments["value"]?.int, value % 2 == 1 {
                        throw TestFailure("odd \(value)", exit: .toolFailed)
                    }
                    return "even"
                }
            ])
            let run = try await lab.run(
                "name: t\nsteps:\n  - {id: f, action: odd, foreach: [0, 1, 2, 3], with: {value: \"${{ each.value }}\"}}\n",
                performer)
            #expect(run.result("f") == ["even", .null, "even", .null])
            #expect(run.summary.exit == .toolFailed && run.summary.error?.message == "odd 1")
        }
    }

    @Test("An error that only the run can show has its place")
    func mistakes() async throws {
        try await withLab { lab in
            let run = try await lab.run(
                """
                name: t
                steps:
                  - {id: a, action: x}
                  - {id: b, action: x, with: {value: "${{ 1 + steps.a.status }}"}}
                  - {id: c, action: x, foreach: "${{ steps.a.result }}", needs: [a]}
                  - {id: d, action: x, if: steps.a.result, needs: [a]}
                """)
            #expect(Set(run.states) == ["a: ok", "b: failed", "c: failed", "d: failed"])
            let messages = run.summary.steps.compactMap(\.outcome.error?.message).sorted()
            #expect(messages.count == 3 && messages.allSatisfy { $0.hasPrefix("b.yaml:") }, "\(messages)")
        }
    }

    @Test("Bundles run bundles fifty levels deep, with inputs and outputs")
    func nesting() async throws {
        try await withLab { lab in
            for level in 0..<50 {
                lab.files["\(level)"] = """
                    name: level
                    inputs: {n: {type: integer}}
                    steps:
                      - {id: in, \(level == 49 ? "action: echo" : "bundle: '\(level + 1)'"), with: {n: "${{ inputs.n + 1 }}"}}
                    outputs: {n: "${{ steps.in.result.\(level == 49 ? "n" : "outputs.n") }}"}
                    """
            }
            let run = try await lab.run(
                "name: t\nsteps:\n  - {id: s, bundle: '0', with: {n: 0}}\noutputs: {n: \"${{ steps.s.outputs.n }}\"}\n")
            #expect(run.summary.outputs == ["n": 50], "\(run.summary)")
            #expect(run.summary.steps.contains { $0.key == "s" + String(repeating: "/in", count: 50) })
        }
    }
}

/// Waits until the expected number of callers has come; with a smaller limit each passes alone.
actor Gate {
    private let size: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ size: Int) {
        self.size = size
    }

    func meet() async -> JSON {
        if waiting.count + 1 == size {
            waiting.forEach { $0.resume() }
            waiting = []
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
        return .null
    }
}
