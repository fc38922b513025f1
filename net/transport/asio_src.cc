// The parts of Asio and Beast that are not templates, compiled once (BOOST_ASIO_SEPARATE_COMPILATION and the like for
// Beast).
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
