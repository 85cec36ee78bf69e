import Capabilities
import JSON
import Registry
import Settings

/// An option that every command has because a feature's setting asks for it: `--cacert` for `auth.cacert`.
struct SettingOption: Sendable {
    let declaration: ParameterDeclaration
    /// The setting's whole key.
    let key: String

    init?(_ setting: SettingDeclaration, key: [String]) {
        guard let flag = setting.flag else { return nil }
        self.key = key.joined(separator: ".")
        let isSwitch = setting.schema.unwrapped == .boolean
        declaration = ParameterDeclaration(
            name: flag, summary: setting.summary, form: isSwitch ? .flag : .option, schema: setting.schema)
    }

    /// Known before anything is composed, because the settings decide about that.
    static func all(_ features: [BuiltInFeature]) -> [SettingOption] {
        features.compactMap { $0.type?.manifest }.flatMap { manifest in
            let prefix = manifest.id.split(separator: ".").map(String.init)
            return manifest.settings.compactMap { SettingOption($0, key: prefix + $0.key) }
        }
    }

    /// What every command takes in this build.
    static func everyOption(_ host: Host) -> [ParameterDeclaration] {
        CommonOptions.declarations + all(host).map(\.declaration)
    }

    static func all(_ host: Host) -> [SettingOption] {
        host.catalogue.declarations.compactMap { SettingOption($0, key: $0.key) }
    }
}
