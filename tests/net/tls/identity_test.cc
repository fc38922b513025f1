// What is read from files is checked, and what is wrong with it is said.
#include "net/tls/identity.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "net/tls/certificate.h"
#include "net/tls/server_tls.h"
#include "tests/net/tls/certificates.h"

namespace burn::test {
namespace {

using net::tls::ClientCertificates;
using net::tls::ServerIdentity;
using net::tls::ServerTls;
using std::chrono::hours;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class TlsIdentity : public testing::Test {
 protected:
  std::string why() const { return ServerIdentity::read(pki.server).status().message(); }

  TestPki pki;
};

TEST_F(TlsIdentity, IsReadFromTwoFilesOrOne) {
  const auto two = ServerIdentity::read(pki.server);
  ASSERT_TRUE(two.ok()) << two.status().to_string();
  EXPECT_EQ((*two)->subject(), "\"server\"");
  const auto issued = pki.authority.issue({.common_name = "both"});
  pki.server.certificate = pki.folder.write("both.pem", issued.certificate() + issued.key());
  pki.server.key.clear();
  const auto one = ServerIdentity::read(pki.server);
  ASSERT_TRUE(one.ok()) << one.status().to_string();
  EXPECT_EQ((*one)->subject(), "\"both\"");
}

TEST_F(TlsIdentity, NamesTheFileThatIsNotThere) {
  pki.server.key = pki.folder.path("no.key");
  EXPECT_EQ(why(), "the key file " + pki.server.key + " cannot be read: No such file or directory");
  pki.server.certificate = pki.folder.path("");
  EXPECT_THAT(why(), HasSubstr("is no regular file"));
}

TEST_F(TlsIdentity, RefusesAKeyThatOthersMayRead) {
  ASSERT_EQ(::chmod(pki.server.key.c_str(), 0644), 0);
  EXPECT_EQ(why(), "other users of this machine may read or change the key file " + pki.server.key);
}

TEST_F(TlsIdentity, RefusesAKeyOfAnotherCertificate) {
  pki.folder.write("server.key", pki.authority.issue({}).key());
  EXPECT_EQ(why(), "the key in " + pki.server.key + " does not belong to the certificate \"server\" in " +
                       pki.server.certificate);
}

TEST_F(TlsIdentity, RefusesCertificatesOfAnotherTime) {
  pki.show(pki.authority.issue({.from = -hours{2}, .until = -hours{1}}));
  EXPECT_THAT(why(), AllOf(HasSubstr("expired on 20"), HasSubstr("UTC"), HasSubstr(pki.server.certificate)));
  pki.show(pki.authority.issue({.from = hours{1}, .until = hours{2}}));
  EXPECT_THAT(why(), HasSubstr("is not valid before 20"));
}

TEST_F(TlsIdentity, RefusesFilesWithoutWhatTheyAreFor) {
  pki.folder.write("server.pem", "");
  EXPECT_EQ(why(), "there is no certificate in " + pki.server.certificate);
  pki.show(pki.authority.issue({}));
  pki.folder.write("server.key", "no key");
  EXPECT_EQ(why(), "there is no key in " + pki.server.key);
  pki.show(pki.authority.issue({}));
  pki.folder.write("server.pem", std::string((1 << 20) + 1, ' '));
  EXPECT_THAT(why(), HasSubstr("has more than 1048576 bytes"));
}

TEST_F(TlsIdentity, RefusesACertificateThatIsCutInTheMiddle) {
  const auto whole = pki.authority.issue({}).certificate();
  pki.folder.write("server.pem", whole + whole.substr(0, whole.size() / 2));
  EXPECT_EQ(why(), "certificate 2 in " + pki.server.certificate + " cannot be read");
}

TEST_F(TlsIdentity, RefusesAChainThatIsOutOfOrder) {
  const auto between = pki.authority.issue({.common_name = "between", .names = {}, .is_authority = true});
  const auto issued = between.issue({});
  pki.folder.write("server.key", issued.key());
  pki.folder.write("server.pem", issued.certificate() + between.certificate() + pki.authority.certificate());
  EXPECT_EQ(why(), "");
  pki.folder.write("server.pem", issued.certificate() + pki.authority.certificate() + between.certificate());
  EXPECT_THAT(why(), AllOf(HasSubstr("is not in order: certificate 2, \"test authority\", did not issue certificate 1"),
                           HasSubstr(pki.server.certificate)));
}

TEST_F(TlsIdentity, NeedsIssuersWhereClientsProveThemselves) {
  pki.server.client_certificates = ClientCertificates::accepted;
  EXPECT_EQ(why(), "");
  pki.folder.write("ca.pem", "# none\n");
  EXPECT_EQ(why(), "there is no certificate in " + pki.server.client_ca);
}

TEST_F(TlsIdentity, StaysWhatItWasWhenTheNewOneIsWrong) {
  const auto tls = ServerTls::open(pki.server);
  ASSERT_TRUE(tls.ok());
  const auto first = (*tls)->current();
  EXPECT_FALSE((*tls)->reload_if_changed()) << "no file has changed";
  pki.folder.write("server.key", pki.authority.issue({}).key());
  const auto half = (*tls)->reload_if_changed();
  ASSERT_TRUE(half.has_value());
  EXPECT_THAT(half->message(), HasSubstr("does not belong to the certificate"));
  EXPECT_EQ((*tls)->current(), first);
  EXPECT_FALSE((*tls)->reload_if_changed()) << "what is wrong is said once";
  pki.show(pki.authority.issue({.common_name = "next"}));
  ASSERT_TRUE((*tls)->reload_if_changed().value_or(internal_error("not seen")).ok());
  EXPECT_EQ((*tls)->current()->subject(), "\"next\"");
}

TEST_F(TlsIdentity, IsAlsoAFileThatIsReplacedAtOnce) {
  const auto tls = ServerTls::open(pki.server);
  ASSERT_TRUE(tls.ok());
  const auto path = (*tls)->key_and_chain_path();
  struct stat before {
  }, after{};
  ASSERT_EQ(::stat(path.c_str(), &before), 0);
  pki.show(pki.authority.issue({.common_name = "another, longer name"}));
  ASSERT_TRUE((*tls)->reload().ok());
  ASSERT_EQ(::stat(path.c_str(), &after), 0);
  EXPECT_EQ((*tls)->key_and_chain_path(), path);
  EXPECT_GT(after.st_mtim.tv_sec, before.st_mtim.tv_sec) << "readers compare whole seconds";
  EXPECT_EQ(static_cast<std::size_t>(after.st_size), (*tls)->current()->key_and_chain().size());
}

TEST_F(TlsIdentity, FollowsALinkThatIsSwapped) {
  namespace fs = std::filesystem;
  const auto put = [&](const std::string& name, const Issued& issued) {
    fs::create_directories(pki.folder.path(name));
    pki.folder.write(name + "/server.pem", issued.certificate() + issued.key());
  };
  put("first", pki.authority.issue({.common_name = "first"}));
  put("second", pki.authority.issue({.common_name = "second"}));
  fs::create_directory_symlink("first", pki.folder.path("current"));
  pki.server.certificate = pki.folder.path("current/server.pem");
  pki.server.key.clear();
  const auto tls = ServerTls::open(pki.server);
  ASSERT_TRUE(tls.ok()) << tls.status().to_string();
  fs::create_directory_symlink("second", pki.folder.path("next"));
  fs::rename(pki.folder.path("next"), pki.folder.path("current"));
  ASSERT_TRUE((*tls)->reload_if_changed().value_or(internal_error("not seen")).ok());
  EXPECT_EQ((*tls)->current()->subject(), "\"second\"");
}

TEST(TlsCertificate, TellsItsNames) {
  const auto issued = make_authority().issue(
      {.common_name = "alice", .names = "URI:burn://tenant/vision,DNS:*.train.lab,IP:10.0.0.1,email:alice@lab"});
  const auto names = net::tls::names_of(issued.x509());
  EXPECT_THAT(names, ElementsAre("uri:burn://tenant/vision", "dns:*.train.lab", "ip:10.0.0.1", "email:alice@lab",
                                 "cn:alice", StartsWith("sha256:")));
  EXPECT_EQ(net::tls::names_of_pem(issued.certificate()), names);
  EXPECT_TRUE(net::tls::names_of_pem("no certificate").empty());
}

TEST(TlsCertificate, IsForTheHostsOfItsAlternativeNamesAlone) {
  const auto authority = make_authority();
  const auto check = [&](const char* common_name, const char* names, const char* host) {
    return net::tls::check_host(authority.issue({.common_name = common_name, .names = names}).x509(), host);
  };
  EXPECT_TRUE(check("x", "DNS:worker.lab", "worker.lab").ok());
  EXPECT_TRUE(check("x", "DNS:*.train.lab", "worker.train.lab").ok());
  EXPECT_TRUE(check("x", "IP:10.0.0.1", "10.0.0.1").ok());
  EXPECT_TRUE(check("x", "IP:::1", "::1").ok());
  EXPECT_FALSE(check("x", "DNS:10.0.0.1", "10.0.0.1").ok()) << "an address is no name";
  EXPECT_FALSE(check("x", "DNS:w*.train.lab", "worker.train.lab").ok()) << "part of a name";
  EXPECT_EQ(check("x", "DNS:a.lab,IP:10.0.0.1", "b.lab").message(),
            "the server's certificate is not for b.lab: it is for a.lab, 10.0.0.1");
  EXPECT_EQ(
      check("worker.lab", "", "worker.lab").message(),
      "the server's certificate is not for worker.lab: it is for no host at all (it has no subjectAltName; its CN "
      "does not count)");
}

}  // namespace
}  // namespace burn::test
