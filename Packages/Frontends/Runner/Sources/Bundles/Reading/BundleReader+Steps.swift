import Capabilities
import Expressions
import JSON

extension BundleReader {
    mutating func steps(_ json: JSON?, under list: String) -> [Step] {
        var steps: [Step] = []
        for (index, item) in (json?.array ?? []).enumerated() where item.object != nil {
            steps.append(step(item, at: [list, String(index)], after: steps.last?.id))
        }
        return steps
    }

    private mutating func step(_ json: JSON, at path: [String], after before: String?) -> Step {
        let id = Self.stepID(json, at: path)
        if json["id"] != nil, !Self.isName(id) {
            add("an id has to be of lower-case letters, digits and hyphens, such as find-todos", at: path + ["id"])
        }
        var step = Step(id: id, work: work(json, at: path), path: path)
        if let with = json["with"] { step.arguments = template(with, at: path + ["with"]) }
        step.condition = condition(json["if"], at: path + ["if"])
        step.needs = Self.texts(json["needs"]) ?? before.map { [$0] } ?? []
        step.spread = spread(json, at: path)
        step.parallel = json["parallel"]?.int
        if step.parallel != nil, step.spread == nil {
            add("parallel is for a step with matrix or foreach", at: path + ["parallel"], key: true)
        }
        step.retry = retry(json["retry"])
        step.timeout = duration(json["timeout"])
        if step.timeout == .zero { add("the timeout has to be more than 0", at: path + ["timeout"]) }
        step.continuesOnError = json["continue-on-error"]?.bool ?? false
        if let cache = json["cache"], let lifetime = duration(cache["for"]) {
            let key = cache["key"].map { template($0, at: path + ["cache", "key"]) } ?? .value(.null)
            step.cache = Step.Cache(key: key, lifetime: lifetime)
        }
        return step
    }

    private mutating func work(_ json: JSON, at path: [String]) -> Step.Work {
        switch (json["action"]?.string, json["bundle"]?.string) {
        case (let action?, nil): return .action(action)
        case (nil, let bundle?):
            if bundle.isEmpty || bundle.contains("${{") {
                add("the path of a bundle is written out, so that it can be checked before", at: path + ["bundle"])
            }
            return .bundle(bundle)
        case (.some, .some): add("a step has an action or a bundle, not both", at: path + ["bundle"], key: true)
        case (nil, nil):
            if json["action"] == nil, json["bundle"] == nil { add("the step needs an action or a bundle", at: path) }
        }
        return .action("")
    }

    /// With or without the marks of an expression around it, as people know it from elsewhere.
    private mutating func condition(_ json: JSON?, at path: [String]) -> Expression? {
        guard let json, !json.isNull else { return nil }
        let text = json.string ?? json.text()
        do throws(ExpressionError) {
            guard text.contains("${{") else { return try Expression(parsing: text) }
            let template = try Template(parsing: text)
            if template.pieces.count == 1, let only = template.expressions.first { return only.expression }
            add("if has to be one expression, without text around it", at: path)
        } catch {
            add(error.message, at: path, offset: error.offset)
        }
        return nil
    }

    private mutating func spread(_ json: JSON, at path: [String]) -> Step.Spread? {
        if let matrix = json["matrix"]?.object {
            if json["foreach"] != nil {
                add("a step has a matrix or foreach, not both", at: path + ["foreach"], key: true)
            }
            return .matrix(self.matrix(matrix, at: path + ["matrix"]))
        }
        guard let list = json["foreach"], !list.isNull else { return nil }
        if list.array == nil, list.string?.contains("${{") != true {
            add("foreach needs a list, or an expression that gives one", at: path + ["foreach"])
        }
        return .foreach(template(list, at: path + ["foreach"]))
    }

    private mutating func matrix(_ members: JSONObject, at path: [String]) -> Matrix {
        var matrix = Matrix(axes: [])
        for (name, value) in members {
            let path = path + [name]
            if name == "include" || name == "exclude" {
                guard let items = value.array, items.allSatisfy({ $0.object != nil }) else {
                    add("\(name) needs a list of objects", at: path)
                    continue
                }
                let templates = items.enumerated().map { template($1, at: path + [String($0)]) }
                if name == "include" { matrix.include = templates } else { matrix.exclude = templates }
                continue
            }
            if value.array == nil, value.string?.contains("${{") != true {
                add("matrix.\(name) needs a list, or an expression that gives one", at: path)
            } else if value.array?.isEmpty == true {
                add("matrix.\(name) has no value, so that the step would never run", at: path)
            }
            matrix.axes.append((name, template(value, at: path)))
        }
        if matrix.axes.isEmpty, matrix.include.isEmpty { add("the matrix has no values", at: path) }
        return matrix
    }

    private func retry(_ json: JSON?) -> Step.Retry? {
        guard let json, let times = json["times"]?.int else { return nil }
        var retry = Step.Retry(times: times)
        if let delay = duration(json["delay"]) { retry.delay = delay }
        if let factor = json["factor"]?.double { retry.factor = factor }
        if let codes = json["on"]?.array { retry.on = codes.compactMap(\.int) }
        return retry
    }
}
