import Capabilities

extension Action {
    /// Names that every frontend keeps for itself, so that they mean the same with every action.
    public static let reservedNames = [
        "help", "format", "json", "output-format", "quiet", "verbose", "only", "set", "profile", "color", "yes",
        "timeout", "no-input", "version", "answers",
    ]

    /// Letters that every frontend keeps for itself.
    public static let reservedLetters: [Character] = ["h", "q", "v", "y"]

    /// Everything in which the declaration contradicts itself, as the rest of "the action …, which".
    ///
    /// Every action is looked at when the program starts, so its few names are compared and not hashed.
    var contradictions: [String] {
        var found: [String] = []
        if !DottedName.isValid(id) { found.append("has a malformed id; ids are lower-case words joined by dots") }
        if summary.isEmpty || summary.hasSuffix(".") {
            found.append("needs a summary of one line without a final stop")
        }
        if let alias, !DottedName.isWord(alias) { found.append("has the malformed alias \(alias)") }
        var names: [String] = []
        var letters: [Character] = []
        var optional: String?
        var repeated: String?
        for parameter in parameters {
            let name = parameter.name
            if !DottedName.isWord(name) { found.append("has a parameter with the malformed name \(name)") }
            if names.contains(name) { found.append("has two parameters named \(name)") }
            names.append(name)
            if parameter.form != .positional, Self.reservedNames.contains(name) {
                found.append("has the option --\(name), which every command has already")
            }
            if let short = parameter.short {
                if Self.reservedLetters.contains(short) {
                    found.append("has the letter -\(short), which every command has already")
                }
                if letters.contains(short) { found.append("uses the letter -\(short) twice") }
                letters.append(short)
                if !short.isASCII || !short.isLetter { found.append("has the letter -\(short), which is no letter") }
            }
            if parameter.form == .positional {
                if let repeated { found.append("has \(name) after \(repeated), which takes all words that are left") }
                if parameter.isRequired, let optional {
                    found.append("needs \(name) after \(optional), which may be left out")
                }
                if !parameter.isRequired { optional = name }
                if parameter.isRepeated { repeated = name }
                if parameter.schema.unwrapped == .secret { found.append("takes the secret \(name) as a word") }
            }
            if case .choice(let words) = parameter.schema.unwrapped, words.isEmpty {
                found.append("offers no choice for \(name)")
            }
            if parameter.schema.element?.unwrapped ?? parameter.schema.unwrapped == .path(.any) {
                found.append("takes the path \(name) and does not say what for")
            }
            if let standard = parameter.standard, let problem = parameter.schema.problems(in: standard).first {
                found.append("has a default for \(name) that \(problem.description)")
            }
        }
        if let destroyingFlag, !parameters.contains(where: { $0.form == .flag && $0.name == destroyingFlag }) {
            found.append("destroys with --\(destroyingFlag), which is no flag of it")
        }
        if offer == .models { found += contradictionsForModels }
        for parameter in parameters where parameter.form == .flag && names.contains("no-" + parameter.name) {
            found.append("has both --\(parameter.name) and --no-\(parameter.name)")
        }
        return found
    }

    /// What a model can name, it can have read and sent away; what it can change, it can be talked into changing.
    private var contradictionsForModels: [String] {
        var found: [String] = []
        let farthest = destroyingFlag == nil ? effect : .destroys
        if farthest != .reads { found.append("is offered to models and \(farthest.rawValue) something") }
        if sends { found.append("is offered to models and sends something") }
        for parameter in parameters where parameter.schema.mayNameAnything {
            found.append("is offered to models and takes \(parameter.name) from them")
        }
        return found
    }
}

extension Schema {
    /// Whether a value can name a file, a server or a secret.
    fileprivate var mayNameAnything: Bool {
        switch self {
        case .path, .url, .host, .secret, .secretName, .program, .any: true
        case .array(let schema), .map(let schema), .optional(let schema): schema.mayNameAnything
        case .record(let properties): properties.contains(where: \.schema.mayNameAnything)
        case .boolean, .integer, .number, .string, .choice, .duration, .size, .time: false
        }
    }
}
