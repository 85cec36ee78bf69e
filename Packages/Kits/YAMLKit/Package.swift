// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "YAMLKit",
    products: [.library(name: "YAMLKit", targets: ["YAMLKit"])],
    dependencies: [.package(path: "../../Core")],
    targets: [
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .target(name: "YAMLKit", dependencies: ["CYAML", .product(name: "Core", package: "Core")]),
        .testTarget(
            name: "YAMLKitTests",
            dependencies: [
                "YAMLKit", .product(name: "Core", package: "Core"), .product(name: "CoreTesting", package: "Core"),
            ]),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
