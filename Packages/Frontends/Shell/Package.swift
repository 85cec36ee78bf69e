// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Shell",
    products: [.library(name: "ShellFrontend", targets: ["ShellFrontend"])],
    dependencies: [
        .package(path: "../../Core"), .package(path: "../../Kits/FileKit"), .package(path: "../../Kits/TerminalKit"),
        .package(path: "../Host"),
    ],
    targets: [
        .target(
            name: "ShellFrontend",
            dependencies: [
                .product(name: "Core", package: "Core"),
                .product(name: "FileKit", package: "FileKit"),
                .product(name: "TerminalKit", package: "TerminalKit"),
            ]),
        .testTarget(
            name: "ShellFrontendTests",
            dependencies: [
                "ShellFrontend",
                .product(name: "Core", package: "Core"), .product(name: "CoreTesting", package: "Core"),
                .product(name: "HostKit", package: "Host"), .product(name: "HostTesting", package: "Host"),
                .product(name: "TerminalKit", package: "TerminalKit"),
            ]),
    ]
)

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
