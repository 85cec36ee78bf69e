import Capabilities
import Expressions

/// Compares what a bundle takes from the results of its steps with what their actions give.
struct ResultCheck {
    private let bundle: Bundle
    /// The shapes of the results, by the ids of the steps.
    private let results: [String: Schema]
    private var problems: [BundleProblem] = []

    static func problems(of bundle: Bundle, _ results: [String: Schema]) -> [BundleProblem] {
        var check = ResultCheck(bundle: bundle, results: results)
        for step in bundle.allSteps { check.check(step) }
        for (name, template) in bundle.outputs { check.check(template, at: ["outputs", name]) }
        return check.problems
    }

    private mutating func check(_ step: Step) {
        check(step.arguments, at: step.path + ["with"])
        for reference in step.condition?.references ?? [] {
            check(reference, at: step.path + ["if"])
        }
        switch step.spread {
        case .foreach(let list)?: check(list, at: step.path + ["foreach"])
        case .matrix(let matrix)?:
            for (name, values) in matrix.axes {
                check(values, at: step.path + ["matrix", name])
            }
        case nil: break
        }
    }

    private mutating func check(_ template: JSONTemplate, at path: [String]) {
        for (way, expression, _) in template.expressions {
            for reference in expression.references { check(reference, at: path + way) }
        }
    }

    /// `steps.ID.result.member`, as far as the shape of the result is known.
    private mutating func check(_ reference: Expression.Reference, at path: [String]) {
        guard reference.path.count > 3, reference.path[0] == "steps", reference.path[2] == "result",
            var shape = results[reference.path[1]]
        else { return }
        var way = reference.path[1] + ".result"
        for name in reference.path.dropFirst(3) {
            switch shape.unwrapped {
            case .record(let properties):
                guard let property = properties.first(where: { $0.name == name }) else {
                    let near = Suggestion.text(for: name, among: properties.map(\.name))
                    problems.append(
                        bundle.source.problem("\(way) has no '\(name)'\(near)", at: path, offset: reference.offset))
                    return
                }
                shape = property.schema
            case .array(let element): shape = element
            case .map(let element): shape = element
            case .any: return
            default:
                problems.append(
                    bundle.source.problem(
                        "\(way) is a single value and has no '\(name)'", at: path, offset: reference.offset))
                return
            }
            way += ".\(name)"
        }
    }
}
