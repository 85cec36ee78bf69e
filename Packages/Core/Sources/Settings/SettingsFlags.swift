import Capabilities
import JSON

/// `--set key=value` as a layer: the strongest there is.
public enum SettingsFlags {
    /// - Throws: the problem with the key as it was typed.
    public static func layer(_ flag: String, catalogue: SettingsCatalogue) throws(SettingsProblem) -> SettingsLayer {
        guard let equals = flag.firstIndex(of: "="), equals != flag.startIndex else {
            throw SettingsProblem(
                origin: .flag,
                message: "--set needs key=value, such as --set profile=work, not \(flag.quotedForMessage)")
        }
        let key = flag[..<equals].split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard let declaration = catalogue.declaration(of: key) else {
            throw SettingsProblem(origin: .flag, key: key, message: catalogue.unknown(key))
        }
        do {
            let value = try declaration.schema.json(fromWord: String(flag[flag.index(after: equals)...]))
            return SettingsLayer(origin: .flag, value: .nested(key, value))
        } catch {
            throw SettingsProblem(origin: .flag, key: key, message: error.description)
        }
    }
}
