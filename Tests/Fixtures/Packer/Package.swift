// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Packer",
    products: [.library(name: "Packer", targets: ["Packer"])],
    dependencies: [.package(path: "../../Core")],
    targets: [
        .systemLibrary(name: "CLZMA", pkgConfig: "liblzma", providers: [.apt(["liblzma-dev"])]),
        .target(name: "Packer", dependencies: ["CLZMA", .product(name: "Core", package: "Core")]),
        .testTarget(
            name: "PackerTests",
            dependencies: [
                "Packer",
                .product(name: "Core", package: "Core"),
                .product(name: "CoreTesting", package: "Core"),
            ]),
    ]
)

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
