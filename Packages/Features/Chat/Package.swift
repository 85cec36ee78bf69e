// swift-tools-version: 6.2
import PackageDescription

let core: Target.Dependency = .product(name: "Core", package: "Core")

/// What tests use of the packages below.
let testing: [Target.Dependency] = [
    core, .product(name: "CoreTesting", package: "Core"), .product(name: "FileKit", package: "FileKit"),
    .product(name: "HTTPKit", package: "HTTPKit"), .product(name: "HTTPServer", package: "HTTPKit"),
    .product(name: "HTTPTesting", package: "HTTPKit"), .product(name: "HostKit", package: "Host"),
    .product(name: "HostTesting", package: "Host"), .product(name: "KamiwazaKit", package: "KamiwazaKit"),
    .product(name: "KamiwazaTesting", package: "KamiwazaKit"), .product(name: "LoopKit", package: "LoopKit"),
    .product(name: "ModelKit", package: "ModelKit"), .product(name: "ProcessKit", package: "ProcessKit"),
    .product(name: "StorageKit", package: "StorageKit"),
]

let package = Package(
    name: "Chat",
    products: [.library(name: "Chat", targets: ["Chat", "ChatHistory", "ChatProviders"])],
    dependencies: [
        .package(path: "../../Core"), .package(path: "../../Kits/Cryptography"), .package(path: "../../Kits/FileKit"),
        .package(path: "../../Kits/GatewayKit"), .package(path: "../../Kits/HTTPKit"),
        .package(path: "../../Kits/KamiwazaKit"), .package(path: "../../Kits/LoopKit"),
        .package(path: "../../Kits/ModelKit"), .package(path: "../../Kits/ProcessKit"),
        .package(path: "../../Kits/SandboxKit"), .package(path: "../../Kits/SchemaKit"),
        .package(path: "../../Kits/StorageKit"),
        .package(path: "../../Kits/TerminalKit"), .package(path: "../../Kits/ToolKit"),
        .package(path: "../../Frontends/Host"),
    ],
    targets: [
        .target(
            name: "ChatHistory",
            dependencies: [
                core, .product(name: "Cryptography", package: "Cryptography"),
                .product(name: "FileKit", package: "FileKit"), .product(name: "ModelKit", package: "ModelKit"),
                .product(name: "ProcessKit", package: "ProcessKit"),
                .product(name: "StorageKit", package: "StorageKit"),
            ]),
        .target(
            name: "ChatProviders",
            dependencies: [
                core, .product(name: "GatewayKit", package: "GatewayKit"),
                .product(name: "HTTPKit", package: "HTTPKit"),
                .product(name: "KamiwazaKit", package: "KamiwazaKit"),
                .product(name: "ModelKit", package: "ModelKit"),
            ]),
        .target(
            name: "Chat",
            dependencies: [
                "ChatHistory", "ChatProviders", core, .product(name: "FileKit", package: "FileKit"),
                .product(name: "HTTPKit", package: "HTTPKit"), .product(name: "ModelKit", package: "ModelKit"),
                .product(name: "ProcessKit", package: "ProcessKit"),
                .product(name: "SandboxKit", package: "SandboxKit"),
                .product(name: "SchemaKit", package: "SchemaKit"),
                .product(name: "StorageKit", package: "StorageKit"),
                .product(name: "TerminalKit", package: "TerminalKit"), .product(name: "ToolKit", package: "ToolKit"),
            ]),
        .testTarget(name: "ChatHistoryTests", dependencies: ["ChatHistory"] + testing),
        .testTarget(name: "ChatProvidersTests", dependencies: ["ChatProviders"] + testing),
        .testTarget(name: "ChatTests", dependencies: ["Chat", "ChatHistory", "ChatProviders"] + testing),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
