import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { environmentOf, unpackDebian } from '../../support/debian.ts'
import { startProgram } from './start-program.ts'
import type { ForeignUpstream, RunningUpstream } from './upstream.ts'

const clientId = 'roster'
const clientSecret = 'the secret of Roster at LemonLDAP::NG'
/** Seconds in which it takes a sign-in for a new one. It compares whole seconds, so that 0 would ask again without end. */
const youngSeconds = 5
/** The folder of its packages. */
const unpacked = unpack()
/** Files have an answer before the portal, which would take a request of one that is missing for the sign-in's next step. */
const portal = `
use Lemonldap::NG::Portal::Main;
my $portal = Lemonldap::NG::Portal::Main->run({});
sub { $_[0]->{PATH_INFO} =~ /\\.[a-z0-9]+$/ ? [404, [], []] : $portal->(@_) };
`

/** The portal of LemonLDAP::NG, with its users of the demonstration. */
export const lemonldap: ForeignUpstream = {
  name: 'LemonLDAP::NG',
  why: unpacked ? '' : ' (skipped: it takes packages of Debian)',
  issuerAt: (origin) => origin,
  youngSeconds,
  start,
  person: { email: 'dwho@badwolf.org', firstName: 'Doctor', lastName: 'Who' },
  async signIn(page) {
    // A page before asks whether to renew the sign-in.
    const renew = page.locator('form[action="/renewsession"] [type=submit]')
    const name = page.locator('[name=user]')
    await renew.or(name).first().waitFor()
    if ((await renew.count()) > 0) await renew.click()
    await name.fill('dwho')
    await page.locator('[name=password]').fill('dwho')
    await page.locator('[name=password]').press('Enter')
  },
}

function unpack(): string | undefined {
  const packages = ['liblemonldap-ng-portal-perl', 'libio-string-perl', 'libstring-random-perl', 'libmime-tools-perl']
  return unpackDebian(missing(packages), (folder) =>
    execFileSync(
      'perl',
      ['-e', 'use Plack::Runner; use Lemonldap::NG::Portal::Main; use IO::String; use String::Random'],
      {
        env: perlOf(folder),
        stdio: 'ignore',
      },
    ),
  )
}

/** Those of the packages, and of what they need, that the machine lacks. */
function missing(packages: string[]): string[] {
  const plan = execFileSync('apt-get', ['install', '--simulate', '--no-install-recommends', ...packages], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return [...plan.matchAll(/^Inst (\S+)/gm)].map(([, name]) => name!)
}

function perlOf(folder: string): Record<string, string> {
  const found = ['usr/share/perl5', 'usr/lib/x86_64-linux-gnu/perl5/5.36'].map((path) => join(folder, 'root', path))
  return { ...environmentOf(folder), PERL5LIB: found.join(':') }
}

async function start(port: number, redirectUri: string): Promise<RunningUpstream> {
  const folder = mkdtempSync(join(tmpdir(), 'roster-lemonldap-'))
  for (const name of ['conf', 'sessions', 'lock', 'cache']) mkdirSync(join(folder, name))
  const issuer = `http://127.0.0.1:${port}`
  writeFileSync(join(folder, 'conf/lmConf-1.json'), JSON.stringify(settingsOf(issuer, folder, redirectUri)))
  const file = join(folder, 'lemonldap-ng.ini')
  writeFileSync(file, iniOf(folder, join(unpacked!, 'root/usr/share/lemonldap-ng/portal/templates')))
  writeFileSync(join(folder, 'portal.psgi'), portal)
  const serve = 'use Plack::Runner; my $r = Plack::Runner->new; $r->parse_options(@ARGV); $r->run'
  const words = ['--no-default-middleware', '--host', '127.0.0.1', '--port', String(port), join(folder, 'portal.psgi')]
  const env = { ...perlOf(unpacked!), LLNG_DEFAULTCONFFILE: file }
  const well = `${issuer}/.well-known/openid-configuration`
  const stop = await startProgram(['perl', '-e', serve, '--', ...words], env, well, 60_000)
  return {
    clientId,
    clientSecret,
    async stop() {
      await stop()
      rmSync(folder, { recursive: true })
    },
  }
}

function settingsOf(issuer: string, folder: string, redirectUri: string) {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  return {
    cfgNum: 1,
    cfgDate: 1,
    cfgVersion: '2.16.1',
    portal: `${issuer}/`,
    domain: '127.0.0.1',
    securedCookie: 0,
    cookieName: 'lemonldap',
    portalForceAuthnInterval: youngSeconds,
    locationRules: {},
    exportedVars: {},
    key: 'a key of the test',
    authentication: 'Demo',
    userDB: 'Same',
    passwordDB: 'Demo',
    registerDB: 'Null',
    // The module that draws pictures is not there.
    captcha: '::Plugins::Status',
    globalStorage: 'Apache::Session::File',
    globalStorageOptions: {
      Directory: join(folder, 'sessions'),
      LockDirectory: join(folder, 'lock'),
      generateModule: 'Lemonldap::NG::Common::Apache::Session::Generate::SHA256',
    },
    demoExportedVars: { cn: 'cn', mail: 'mail', uid: 'uid' },
    macros: { given: '(split / /, $cn)[0]', family: '(split / /, $cn)[1]' },
    issuerDBOpenIDConnectActivation: 1,
    issuerDBOpenIDConnectPath: '^/oauth2/',
    issuerDBOpenIDConnectRule: '1',
    oidcServiceMetaDataIssuer: issuer,
    oidcServicePrivateKeySig: privateKey,
    oidcServicePublicKeySig: publicKey,
    oidcServiceKeyIdSig: 'key',
    oidcServiceAllowAuthorizationCodeFlow: 1,
    oidcRPMetaDataOptions: {
      roster: {
        oidcRPMetaDataOptionsClientID: clientId,
        oidcRPMetaDataOptionsClientSecret: clientSecret,
        oidcRPMetaDataOptionsRedirectUris: redirectUri,
        oidcRPMetaDataOptionsIDTokenSignAlg: 'RS256',
        oidcRPMetaDataOptionsBypassConsent: 1,
        oidcRPMetaDataOptionsRequirePKCE: 1,
      },
    },
    oidcRPMetaDataExportedVars: { roster: { email: 'mail', given_name: 'given', family_name: 'family' } },
  }
}

function iniOf(folder: string, templates: string): string {
  return `[all]
logger = Lemonldap::NG::Common::Logger::Std
logLevel = error
[configuration]
type = File
dirName = ${folder}/conf
localStorage = Cache::FileCache
localStorageOptions = {'namespace' => 'roster', 'default_expires_in' => 600, 'cache_root' => '${folder}/cache'}
[portal]
templateDir = ${templates}
staticPrefix = /static
languages = en
`
}
