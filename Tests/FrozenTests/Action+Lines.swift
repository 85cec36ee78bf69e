import Capabilities
import JSON
import Registry

extension Action {
    /// The action, each of its parameters, and each question that it may ask.
    var lines: [String] {
        var places = 0
        let given = parameters.map { parameter in
            if parameter.form == .positional { places += 1 }
            return "\(id) \(parameter.line(at: places))"
        }
        return [line] + given + questions.map { "\(id) asks \($0.id)" }
    }

    private var line: String {
        var facts = [effect.rawValue, "offered to \(offer.words)"]
        if let destroyingFlag { facts.append("destroys with --\(destroyingFlag)") }
        if let alias { facts.append("alias \(alias)") }
        let marks = [
            (isDefault, "default of its group"), (isStreaming, "streams"), (worksAlways, "works always"),
            (isInstant, "instant"), (isHidden, "hidden"), (sends, "sends"),
        ]
        facts += marks.filter { $0.0 }.map { $0.1 }
        return "\(id): \(facts.joined(separator: ", "))"
    }
}

extension ActionOffer {
    fileprivate var words: String {
        switch self {
        case .models: "models and bundles"
        case .bundles: "bundles"
        case .byName: "bundles that name it"
        }
    }
}

extension ParameterDeclaration {
    /// How the parameter is given, and what it takes.
    ///
    /// - Parameter place: which of the arguments it is, counted from 1, where it is given by its place.
    func line(at place: Int) -> String {
        var facts: [String] =
            switch form {
            case .positional: ["argument \(place)"]
            case .option: ["option"]
            case .flag: ["flag"]
            case .secret: ["secret"]
            }
        if let short { facts.append("-\(short)") }
        facts += [schema.line, isRequired ? "required" : "not required"]
        if takesPipe { facts.append("takes the pipe") }
        if joinsWords { facts.append("takes all words") }
        if let defaultValue { facts.append("default \(defaultValue.text(.sorted))") }
        let shown = form == .positional ? "<\(name)>" : "--\(name)"
        return "\(shown): \(facts.joined(separator: ", "))"
    }
}
