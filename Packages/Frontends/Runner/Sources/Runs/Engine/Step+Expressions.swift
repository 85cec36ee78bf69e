import Bundles
import Expressions
import JSON

extension Step {
    /// The expressions in what it is run with, and where they stand.
    var expressions: [(path: [String], expression: Expression)] {
        var templates = [(path + ["with"], arguments)]
        if let cache { templates.append((path + ["cache", "key"], cache.key)) }
        switch spread {
        case .matrix(let matrix)?:
            templates += matrix.axes.map { (path + ["matrix", $0.name], $0.values) }
            for (name, list) in [("include", matrix.include), ("exclude", matrix.exclude)] {
                templates += list.enumerated().map { (path + ["matrix", name, String($0)], $1) }
            }
        case .foreach(let list)?: templates.append((path + ["foreach"], list))
        case nil: break
        }
        return templates.flatMap { path, template in template.expressions.map { (path + $0.0, $0.1) } }
    }
}

extension Expression {
    /// Where it refers to what a step gave, and not only to how it ended.
    var resultReferences: [Reference] {
        references.filter { reference in
            guard reference.path.first == "steps", reference.path.count > 1 else { return false }
            return reference.path.count == 2 || ["result", "results", "outputs"].contains(reference.path[2])
        }
    }
}
