import Capabilities
import JSON
import Registry

/// The short forms in which parameters are shown: `<city>`, `[hosts]…`, `--units <metric|imperial>`.
enum Usage {
    /// `martlet config set <key> <value> [--project]`.
    ///
    /// - Parameter words: others than those of the action, where it is meant by its group.
    static func line(_ action: Action, program: String, words other: [String]? = nil) -> String {
        var words = [program] + (other ?? action.alias.map { [$0] } ?? action.id.split(separator: ".").map(String.init))
        words += action.parameters.filter { $0.form == .positional }.map(place)
        let options = action.parameters.filter { $0.form != .positional }
        words += options.filter { $0.isRequired && $0.form == .option }.map { "--\($0.name) \(placeholder($0))" }
        if options.contains(where: { !$0.isRequired || $0.form == .secret }) { words.append("[options]") }
        return words.joined(separator: " ")
    }

    static func place(_ parameter: ParameterDeclaration) -> String {
        let name = parameter.isRequired ? "<\(parameter.name)>" : "[\(parameter.name)]"
        return parameter.isRepeated ? name + "…" : name
    }

    /// `-u, --units <metric|imperial>`.
    static func option(_ parameter: ParameterDeclaration) -> String {
        let letter = parameter.short.map { "-\($0), " } ?? "    "
        switch parameter.form {
        case .flag where parameter.standard == .bool(true): return letter + "--no-\(parameter.name)"
        case .flag: return letter + "--\(parameter.name)"
        case .secret: return letter + "--\(parameter.name)-stdin|-env <name>|-fd <n>"
        case .option, .positional: return letter + "--\(parameter.name) \(placeholder(parameter))"
        }
    }

    static func placeholder(_ parameter: ParameterDeclaration) -> String {
        let isMap = if case .map = parameter.schema.unwrapped { true } else { false }
        return "<\(kind(parameter.schema))>" + (parameter.isRepeated || isMap ? "…" : "")
    }

    /// The summary with what a person needs besides: the words to choose from, and the default.
    static func summary(_ parameter: ParameterDeclaration) -> String {
        var text = parameter.summary
        if parameter.form == .positional,
            case .choice(let names) = (parameter.schema.element ?? parameter.schema).unwrapped
        {
            text += " (\(names.joined(separator: ", ")))"
        }
        if parameter.form != .flag, let standard = parameter.standard, !standard.isNull, standard.array?.isEmpty != true
        {
            text += " [default: \(standard.string ?? standard.text())]"
        }
        return text
    }

    private static func kind(_ schema: Schema) -> String {
        switch (schema.element ?? schema).unwrapped {
        case .choice(let names): names.joined(separator: "|")
        case .integer(let range?) where range.upperBound == .max: "number from \(range.lowerBound)"
        case .integer(let range?): "\(range.lowerBound)…\(range.upperBound)"
        case .number(let range?): "\(range.lowerBound)…\(range.upperBound)"
        case .integer, .number: "number"
        case .path: "path"
        case .url: "url"
        case .host: "host"
        case .secretName: "name"
        case .program: "program"
        case .duration: "duration"
        case .size: "size"
        case .time: "2h|yesterday|date"
        case .boolean: "true|false"
        case .map: "name=value"
        case .any, .record: "json"
        default: "text"
        }
    }
}
