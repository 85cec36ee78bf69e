import Capabilities
public import JSON
public import Settings

/// The rules for the bindings of a `SettingsRecord`: each setting sets one property, the one that is named like it, and
/// each property has a setting.
///
/// ```swift
/// #expect(SettingsConformance.violations(of: WeatherSettings.self) == [])
/// ```
public enum SettingsConformance {
    /// The rules that the bindings break, as sentences.
    ///
    /// - Parameters:
    ///   - record: the record under test.
    ///   - values: by key, a valid value other than the default, where the schema does not suffice to find one.
    ///   - names: by key, the properties that are not named like their setting. `max-rounds` would be `maxRounds`.
    public static func violations<Record: SettingsRecord>(
        of record: Record.Type, values: [String: JSON] = [:], names: [String: String] = [:]
    ) -> [String] {
        var catalogue = SettingsCatalogue(features: [])
        catalogue.add(Record.declarations, of: feature)
        let usual = properties(of: Record(reading: Settings().view(for: feature)))
        var found: [String] = []
        var bound: [String] = []
        for setting in Record.declarations {
            let key = setting.name
            var changed: [String] = []
            for value in values[key].map({ [$0] }) ?? setting.schema.samples {
                let layer = SettingsLayer(origin: .flag, value: .nested([feature] + setting.key, value))
                let settings = Settings(merging: [], overrides: [layer], catalogue: catalogue) { _, _ in true }
                let now = properties(of: Record(reading: settings.view(for: feature)))
                for (before, after) in zip(usual, now) where before.content != after.content {
                    if !changed.contains(after.name) { changed.append(after.name) }
                }
            }
            let name = names[key] ?? propertyName(of: setting)
            if changed.isEmpty {
                found.append("\(key) sets no property, or needs a valid value other than its default")
            } else if changed != [name] {
                found.append("\(key) sets \(changed.joined(separator: " and ")), not \(name)")
            }
            bound += changed
        }
        return found + usual.filter { !bound.contains($0.name) }.map { "no setting sets \($0.name)" }
    }

    /// The feature to which the settings belong here.
    private static let feature = "feature"

    /// The stored properties with everything in them, because a description may leave something out.
    private static func properties(of record: some SettingsRecord) -> [(name: String, content: String)] {
        Mirror(reflecting: record).children.map { child in
            var content = ""
            dump(child.value, to: &content)
            return (name: child.label ?? "", content: content)
        }
    }

    private static func propertyName(of setting: SettingDeclaration) -> String {
        var name = ""
        for word in setting.key.flatMap({ $0.split(separator: "-") }) {
            name += name.isEmpty ? String(word) : word.prefix(1).uppercased() + word.dropFirst()
        }
        return name
    }
}

extension Schema {
    /// Valid values of which at least one is not the usual default.
    fileprivate var samples: [JSON] {
        switch self {
        case .boolean: [false, true]
        case .integer(let range), .size(let range): [.int(range?.lowerBound ?? 1), .int(range?.upperBound ?? 2)]
        case .number(let range): [.double(range?.lowerBound ?? 1), .double(range?.upperBound ?? 2)]
        case .choice(let words): words.map { .string($0) }
        case .duration: ["1s", "2s"]
        case .map(let element): [["none": element.plain(in: "")]]
        case .optional(let inner): inner.samples
        default: [plain(in: "")]
        }
    }
}
