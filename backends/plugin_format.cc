// Compiles fmt into a plug-in, so that the library need not be installed where the plug-in is loaded: its functions are
// compiled here, from the inline definitions in its headers, and hidden (backends/CMakeLists.txt). For the release of
// Debian 12; a plug-in that is built with another release is linked with the library.
#undef FMT_SHARED  // which would export them
#include <fmt/core.h>

#if FMT_VERSION / 10000 == 9
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

// Instantiates templates that fmt's headers only declare.
template auto dragonbox::to_decimal(float x) noexcept -> dragonbox::decimal_fp<float>;
template auto dragonbox::to_decimal(double x) noexcept -> dragonbox::decimal_fp<double>;
template locale_ref::locale_ref(const std::locale& locale);
template auto locale_ref::get<std::locale>() const -> std::locale;
template auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;
template void buffer<char>::append(const char*, const char*);
template void vformat_to(buffer<char>&, string_view, format_args, locale_ref);

}  // namespace detail
FMT_END_NAMESPACE
#endif
