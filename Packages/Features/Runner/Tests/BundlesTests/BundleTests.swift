import Bundles
import Capabilities
import ExpressionKit
import JSON
import Testing

@Suite("Bundle")
struct BundleTests {
    private let text = """
        name: nightly
        summary: Looks at things
        needs: [chat]
        inputs:
          repo: {type: path, summary: Where it is}
          deep: {type: boolean, default: false}
          token: {secret: true, default: none}
        env:
          GREETING: "Hello ${{ inputs.repo }}"
          KEY: {secret: openai}
          HOME: {variable: HOME, default: /root}
        permissions: {actions: [chat.send], hosts: ["*.example.com"], paths: [., data], secrets: [openai],
                      tools: ["files/*"]}
        timeout: 10m
        parallel: 3
        schedule: {every: 1h}
        steps:
          - action: version
          - id: ask
            action: ask
            if: inputs.deep && succeeded()
            matrix: {model: [a, b], size: [1, 2], exclude: [{model: b, size: 2}], include: [{model: c, size: 9}]}
            with: {message: "${{ env.GREETING }} ${{ steps.step-1.result.version }}", model: "${{ matrix.model }}"}
            retry: {times: 2, delay: 500ms, on: [4, 5]}
            timeout: 30s
            continue-on-error: true
          - id: again
            needs: []
            foreach: "${{ range(3) }}"
            parallel: 2
            action: chat.list
            cache: {key: "${{ inputs.repo }}", for: 1d}
        finally:
          - action: version
        outputs:
          answer: "${{ steps.ask.result }}"
        """

    private func bundle() throws -> Bundle { try Bundle(BundleSource(Array(text.utf8), file: "b.yaml")) }

    @Test("A bundle has the values of its file")
    func reading() throws {
        let bundle = try bundle()
        #expect(bundle.name == "nightly" && bundle.summary == "Looks at things" && bundle.needs == ["chat"])
        #expect(bundle.inputs.map(\.name) == ["repo", "deep", "token"] && bundle.inputs[2].isSecret)
        func allows(_ action: String) -> Bool {
            bundle.grant(in: BundleReach()).decide(.action(action, .writes, .bundles)).isAllowed
        }
        #expect(allows("chat.send") && !allows("chat.rename"))
        #expect(
            bundle.permissions.hosts == ["*.example.com"] && bundle.permissions.paths == [".", "data"]
                && bundle.permissions.secrets == ["openai"] && bundle.timeout == .seconds(600) && bundle.parallel == 3)
        #expect(bundle.schedule == .every(.seconds(3600)))
        let ask = bundle.steps[1]
        #expect(ask.needs == ["step-1"] && ask.retry == Step.Retry(times: 2, delay: .milliseconds(500), on: [4, 5]))
        #expect(ask.timeout == .seconds(30) && ask.continuesOnError)
        #expect(
            bundle.steps[2].needs == [] && bundle.steps[2].parallel == 2
                && bundle.steps[2].cache?.lifetime == .seconds(86_400))
        #expect(bundle.finally.map(\.id) == ["finally-1"])
        #expect(BundleCheck.problems(of: bundle, in: TestSurroundings(reach: .anywhere)).isEmpty)
    }

    @Test("A bundle in JSON5 is read too, with its own error positions")
    func json5() throws {
        let text = "{\n  // a comment\n  name: 'same', steps: [{action: 'version'}, {action: 'versoin'}],\n}"
        #expect(problems(of: text, file: "b.json5") == ["3:55: unknown action 'versoin'; did you mean 'version'?"])
    }

    @Test("A matrix gives every combination of its values")
    func matrix() throws {
        guard case .matrix(let matrix)? = try bundle().steps[1].spread else { throw BundleFailure([]) }
        let combinations = try matrix.combinations(in: Scope())
        #expect(
            combinations == [
                ["model": "a", "size": 1], ["model": "a", "size": 2], ["model": "b", "size": 1],
                ["model": "c", "size": 9],
            ])
        var wide = Matrix(axes: [])
        for name in ["a", "b", "c", "d", "e"] {
            wide.axes.append((name, try JSONTemplate(.array((0..<10).map(JSON.int)))))
        }
        let error = try #require(throws: MatrixError.self) { try wide.combinations(in: Scope()) }
        #expect(error.message.contains("10000"))
    }

    @Test("A plan shows the steps of a bundle")
    func plan() throws {
        let plan = Plan(of: try bundle(), in: TestSurroundings())
        #expect(plan.steps.map(\.runs) == [1, 4, 3, 1])
        #expect(plan.steps.map(\.effect) == [.reads, .writes, .reads, .reads] && plan.steps[3].isLast)
    }

    @Test("A plan shows the number of runs of a step if the inputs determine it")
    func planWithInputs() throws {
        let text = """
            name: p
            inputs: {models: {type: list, default: [a, b, c]}}
            steps:
              - {id: ask, action: version, matrix: {m: "${{ inputs.models }}", n: [1, 2]}}
              - {id: each, action: version, foreach: "${{ inputs.models }}"}
              - {id: later, action: version, foreach: "${{ default(steps.each.result, []) }}"}
            """
        let bundle = try Bundle(BundleSource(Array(text.utf8), file: "b.yaml"))
        let inputs = BundleInputs.values(for: bundle).values
        #expect(Plan(of: bundle, inputs: inputs, in: TestSurroundings()).steps.map(\.runs) == [6, 3, nil])
    }

    @Test("Inputs come from texts and from values, and wrong ones are reported")
    func inputs() throws {
        let bundle = try bundle()
        let good = BundleInputs.values(for: bundle, words: ["repo": "/srv", "deep": "true"])
        #expect(good.values == ["repo": "/srv", "deep": true, "token": "none"] && good.problems.isEmpty)
        let bad = BundleInputs.values(for: bundle, words: ["deep": "maybe", "rebo": "x"], values: ["token": 5])
        #expect(
            bad.problems.map(\.message) == [
                "unknown input 'rebo'; did you mean 'repo'?",
                "the input 'repo' is missing: Where it is; give it with --input repo=…",
                "the input 'deep' needs true or false, not 'maybe'", "the input 'token' has the wrong type",
            ], "\(bad.problems.map(\.message))")
    }

    @Test("The JSON Schema of bundles has the documented members")
    func schema() throws {
        let schema = BundleFormat.jsonSchema
        #expect(schema["properties"]?["steps"]?["items"]?["properties"]?["continue-on-error"]?["type"] == "boolean")
        #expect(schema["required"] == ["name", "steps"] && schema["additionalProperties"] == false)
    }

    @Test("The digest of a bundle changes with its text")
    func digest() throws {
        let one = try BundleSource(Array("name: a".utf8), file: "a.yaml")
        #expect(one.digest.count == 64)
        #expect(try BundleSource(Array("name: a ".utf8), file: "a.yaml").digest != one.digest)
    }
}
