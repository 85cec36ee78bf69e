// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Core",
    products: [
        .library(name: "Core", targets: ["JSON", "Capabilities", "Settings", "Screens", "Registry"]),
        .library(name: "CoreTesting", targets: ["CoreTesting"]),
        .library(name: "TestTraits", targets: ["TestTraits"]),
    ],
    targets: [
        .target(name: "JSON"),
        .target(name: "Capabilities", dependencies: ["JSON"]),
        .target(name: "Settings", dependencies: ["Capabilities", "JSON"]),
        .target(name: "Screens", dependencies: ["Capabilities", "JSON"]),
        .target(name: "Registry", dependencies: ["Capabilities", "JSON", "Screens", "Settings"]),
        .target(name: "CoreTesting", dependencies: ["Capabilities", "JSON", "Registry", "Screens", "Settings"]),
        .target(name: "TestTraits"),
        .testTarget(name: "JSONTests", dependencies: ["CoreTesting", "JSON"]),
        .testTarget(name: "CapabilitiesTests", dependencies: ["Capabilities", "CoreTesting", "JSON"]),
        .testTarget(name: "SettingsTests", dependencies: ["Capabilities", "JSON", "Settings"]),
        .testTarget(
            name: "RegistryTests",
            dependencies: ["Capabilities", "CoreTesting", "JSON", "Registry", "Screens", "Settings"]),
        .testTarget(name: "ScreensTests", dependencies: ["Capabilities", "CoreTesting", "JSON", "Screens"]),
    ]
)

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
