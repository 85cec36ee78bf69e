import Capabilities
import ExpressionKit

/// Checks that everything a bundle refers to exists, and that its steps can be ordered.
struct BundleNames {
    private let bundle: Bundle
    private let steps: [String: Step]

    init(_ bundle: Bundle) {
        self.bundle = bundle
        steps = Dictionary(bundle.allSteps.map { ($0.id, $0) }) { first, _ in first }
    }

    func check(_ reader: inout BundleReader) {
        checkIDs(&reader)
        checkNeeds(&reader)
        for step in bundle.allSteps { checkReferences(of: step, &reader) }
        for (name, value) in bundle.environment {
            guard case .value(let template) = value else { continue }
            check(template, at: ["env", name], names: ["inputs", "bundle", "run"], of: nil, &reader)
        }
        for (name, template) in bundle.outputs {
            check(template, at: ["outputs", name], names: Self.everywhere, of: nil, &reader)
        }
    }

    private func checkIDs(_ reader: inout BundleReader) {
        var seen: [String: Step] = [:]
        for step in bundle.allSteps {
            if let first = seen[step.id] {
                reader.add(
                    "the id '\(step.id)' is already used in line \(bundle.source.problem("", at: first.path).line)",
                    at: step.path + ["id"])
            } else {
                seen[step.id] = step
            }
        }
    }

    /// Checks that the needed steps exist in the same list and do not form a cycle.
    private func checkNeeds(_ reader: inout BundleReader) {
        for list in [bundle.steps, bundle.finally] {
            let ids = Set(list.map(\.id))
            for step in list {
                for (index, need) in step.needs.enumerated() where !ids.contains(need) {
                    let path = step.path + ["needs", String(index)]
                    let hint =
                        steps[need] == nil
                        ? "\(Suggestion.text(for: need, among: ids.sorted()))"
                        : "; 'finally' steps run after all others"
                    reader.add("no step '\(need)' here\(hint)", at: path)
                }
            }
            for circle in circles(list) {
                guard let step = steps[circle[0]] else { continue }
                let way = (circle + [circle[0]]).joined(separator: " needs ")
                reader.add("steps wait for each other in a cycle: \(way)", at: step.path + ["needs"])
            }
        }
    }

    /// The first cycle in each part of the graph.
    private func circles(_ list: [Step]) -> [[String]] {
        var circles: [[String]] = []
        var done: Set<String> = []
        for start in list where !done.contains(start.id) {
            // An explicit stack: ten thousand steps in a row would be too deep for recursion.
            var way: [(id: String, next: Int)] = [(start.id, 0)]
            var onWay: [String: Int] = [start.id: 0]
            while let (id, next) = way.last {
                let needs = steps[id]?.needs ?? []
                if next == needs.count {
                    done.insert(id)
                    onWay[id] = nil
                    way.removeLast()
                    continue
                }
                way[way.count - 1].next += 1
                let need = needs[next]
                if let place = onWay[need] {
                    circles.append(way[place...].map(\.id))
                } else if !done.contains(need), steps[need] != nil {
                    onWay[need] = way.count
                    way.append((need, 0))
                }
            }
        }
        return circles
    }

    // MARK: Expressions

    private static let everywhere: Set<String> = ["inputs", "env", "steps", "run", "bundle"]

    private func checkReferences(of step: Step, _ reader: inout BundleReader) {
        let outer = Self.everywhere
        var inner = outer
        switch step.spread {
        case .matrix(let matrix)?:
            inner.insert("matrix")
            for (name, values) in matrix.axes {
                check(values, at: step.path + ["matrix", name], names: outer, of: step, &reader)
            }
            for (index, one) in matrix.include.enumerated() {
                check(one, at: step.path + ["matrix", "include", String(index)], names: outer, of: step, &reader)
            }
        case .foreach(let list)?:
            inner.insert("each")
            check(list, at: step.path + ["foreach"], names: outer, of: step, &reader)
        case nil: break
        }
        check(step.arguments, at: step.path + ["with"], names: inner, of: step, &reader)
        if let condition = step.condition {
            for reference in condition.references {
                check(reference, at: step.path + ["if"], offset: reference.offset, names: inner, of: step, &reader)
            }
        }
        if let cache = step.cache {
            check(cache.key, at: step.path + ["cache", "key"], names: inner, of: step, &reader)
        }
    }

    private func check(
        _ template: JSONTemplate, at path: [String], names: Set<String>, of step: Step?, _ reader: inout BundleReader
    ) {
        for (way, expression, _) in template.expressions {
            for function in expression.functions.intersection(["always", "succeeded", "failed"]).sorted() {
                reader.add("\(function)() is allowed only in the 'if' of a step", at: path + way)
            }
            for reference in expression.references {
                check(reference, at: path + way, offset: reference.offset, names: names, of: step, &reader)
            }
        }
    }

    private func check(
        _ reference: Expression.Reference, at path: [String], offset: Int, names: Set<String>, of step: Step?,
        _ reader: inout BundleReader
    ) {
        func wrong(_ message: String) { reader.add(message, at: path, offset: offset) }
        let root = reference.path[0]
        guard names.contains(root) else {
            let sorted = names.sorted()
            switch root {
            case "matrix": return wrong("this step has no matrix")
            case "each": return wrong("this step has no foreach")
            default:
                let near = Suggestion.text(for: root, among: sorted)
                let known = near.isEmpty ? "; known names: \(sorted.joined(separator: ", "))" : near
                return wrong("unknown name '\(root)'\(known)")
            }
        }
        guard reference.path.count > 1 else { return }
        let name = reference.path[1]
        func isOne(of known: [String], _ what: String) {
            if !known.contains(name) {
                wrong("unknown \(what) '\(name)'\(Suggestion.text(for: name, among: known.sorted()))")
            }
        }
        switch root {
        case "inputs": isOne(of: bundle.inputs.map(\.name), "input")
        case "env": isOne(of: bundle.environment.map(\.name), "env value")
        case "run": isOne(of: ["id", "started", "failed"], "value of the run")
        case "bundle": isOne(of: ["name", "folder"], "value of the bundle")
        case "each": isOne(of: ["value", "index"], "value of each")
        case "matrix":
            if case .matrix(let matrix)? = step?.spread { isOne(of: Array(matrix.names), "matrix value") }
        case "steps": checkStep(name, reference, from: step, wrong)
        default: break
        }
    }

    private static let stepValues = ["result", "results", "status", "exit", "error", "duration", "outputs"]

    private func checkStep(
        _ name: String, _ reference: Expression.Reference, from step: Step?, _ wrong: (String) -> Void
    ) {
        guard let other = steps[name] else {
            return wrong("unknown step '\(name)'\(Suggestion.text(for: name, among: steps.keys.sorted()))")
        }
        if let step, !isBefore(other, step) {
            return wrong("'\(step.id)' does not wait for '\(name)'; add it to 'needs'")
        }
        guard reference.path.count > 2 else { return }
        let value = reference.path[2]
        if !Self.stepValues.contains(value) {
            let near = Suggestion.text(for: value, among: Self.stepValues)
            let known = near.isEmpty ? "; known values: \(Self.stepValues.joined(separator: ", "))" : near
            return wrong("a step has no '\(value)'\(known)")
        }
    }

    /// Whether a step always ends before the other begins.
    private func isBefore(_ first: Step, _ second: Step) -> Bool {
        if first.path[0] == "steps", second.path[0] == "finally" { return true }
        // The nearest first, because most steps refer to the one right above them.
        var open = second.needs
        var seen = Set(open)
        var next = 0
        while next < open.count {
            let id = open[next]
            if id == first.id { return true }
            open += (steps[id]?.needs ?? []).filter { seen.insert($0).inserted }
            next += 1
        }
        return false
    }
}
