// The parts of Asio and Beast that are not templates, compiled once (BOOST_ASIO_SEPARATE_COMPILATION and Beast's
// equivalent).
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
