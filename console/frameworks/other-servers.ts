import { type Facts, type Framework, originOf, portOf } from './framework.ts'
import { filesOf } from './read-files.ts'

const client = ({ issuer, clientId, clientSecret }: Facts) => ({
  ISSUER: issuer,
  CLIENT_ID: clientId,
  CLIENT_SECRET: clientSecret,
})
const load = 'set -a; . ./.env; set +a'
const server = { registers: 'web' as const, back: '/' }

/** Servers in other languages, and a proxy before what has no sign-in. */
export const otherServers: Record<string, Framework> = {
  spring: {
    ...server,
    name: 'Spring Boot',
    address: 'http://localhost:8081',
    callback: '/login/oauth2/code/roster',
    env: (facts) => ({ ...client(facts), PORT: portOf(facts.address) || '8081' }),
    commands: [load, 'mvn package', 'java -jar target/shop-1.jar'],
    files: filesOf({
      'src/main/resources/application.yml': () =>
        import('../../examples/spring-client/src/main/resources/application.yml?raw'),
      'src/main/java/com/example/Shop.java': () =>
        import('../../examples/spring-client/src/main/java/com/example/Shop.java?raw'),
      'pom.xml': () => import('../../examples/spring-client/pom.xml?raw'),
    }),
  },
  aspnet: {
    ...server,
    name: 'ASP.NET Core',
    address: 'http://localhost:5001',
    callback: '/signin-oidc',
    back: '/signout-callback-oidc',
    env: client,
    commands: [load, 'dotnet run --urls http://localhost:5001'],
    files: filesOf({
      'Program.cs': () => import('../../examples/aspnet/Program.cs?raw'),
      'Shop.csproj': () => import('../../examples/aspnet/Shop.csproj?raw'),
    }),
  },
  flask: {
    ...server,
    name: 'Flask (Authlib)',
    address: 'http://localhost:5000',
    callback: '/callback',
    env: (facts) => ({ ...client(facts), SECRET_KEY: facts.random }),
    commands: ['pip install flask authlib requests', load, 'flask run --port 5000'],
    files: filesOf({ 'app.py': () => import('../../examples/flask/app.py?raw') }),
  },
  django: {
    ...server,
    name: 'Django (mozilla-django-oidc)',
    address: 'http://localhost:8000',
    callback: '/oidc/callback/',
    env: (facts) => ({ ...client(facts), SECRET_KEY: facts.random }),
    commands: [
      'pip install django mozilla-django-oidc',
      load,
      'python shop.py migrate',
      'python shop.py runserver 8000',
    ],
    files: filesOf({ 'shop.py': () => import('../../examples/django/shop.py?raw') }),
  },
  'oauth2-proxy': {
    ...server,
    name: 'oauth2-proxy',
    address: 'http://localhost:4180',
    callback: '/oauth2/callback',
    env: ({ clientId, clientSecret, random }) => ({
      OAUTH2_PROXY_CLIENT_ID: clientId,
      OAUTH2_PROXY_CLIENT_SECRET: clientSecret,
      // It wants 16, 24 or 32 bytes.
      OAUTH2_PROXY_COOKIE_SECRET: random.slice(0, 32),
    }),
    commands: [load, 'oauth2-proxy --config oauth2-proxy.cfg'],
    files: filesOf(
      { 'oauth2-proxy.cfg': () => import('../../examples/oauth2-proxy/oauth2-proxy.cfg?raw') },
      {
        'http://localhost:8080': ({ issuer }) => issuer,
        'http://localhost:4180': ({ address }) => originOf(address),
        '"localhost:8080"': ({ issuer }) => `"${issuer.replace(/^https?:\/\//, '')}"`,
      },
    ),
  },
}
