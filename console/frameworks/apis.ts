import type { Framework } from './framework.ts'
import { filesOf } from './read-files.ts'

const none = { address: '', callback: '', back: '' }
const byKeys = ({ issuer, projectId }: { issuer: string; projectId: string }) => ({
  ISSUER: issuer,
  PROJECT_ID: projectId,
})
const load = 'set -a; . ./.env; set +a'

/** Resource servers. One that validates JWTs by the published keys registers no client. */
export const apis: Record<string, Framework> = {
  'api-node': {
    ...none,
    name: 'An API in Node that checks JWTs (jose)',
    registers: 'nothing',
    env: (facts) => ({ ...byKeys(facts), PORT: '3001' }),
    commands: ['npm i express jose', 'npm pkg set type=module', 'node --env-file=.env server.js'],
    files: filesOf({ 'server.js': () => import('../../examples/resource-server.js?raw') }),
  },
  'api-python': {
    ...none,
    name: 'An API in Python that checks JWTs (PyJWT)',
    registers: 'nothing',
    env: byKeys,
    commands: ['pip install flask "pyjwt[crypto]" requests', load, 'flask --app jwt_tokens run --port 3001'],
    files: filesOf({ 'jwt_tokens.py': () => import('../../examples/api/jwt_tokens.py?raw') }),
  },
  'api-spring': {
    ...none,
    name: 'An API in Spring that checks JWTs',
    registers: 'nothing',
    env: byKeys,
    commands: [load, 'mvn package', 'java -jar target/books-1.jar'],
    files: filesOf({
      'src/main/resources/application.yml': () =>
        import('../../examples/spring-api/src/main/resources/application.yml?raw'),
      'src/main/java/com/example/Books.java': () =>
        import('../../examples/spring-api/src/main/java/com/example/Books.java?raw'),
      'pom.xml': () => import('../../examples/spring-api/pom.xml?raw'),
    }),
  },
  'api-asks': {
    ...none,
    name: 'An API that asks about opaque tokens',
    registers: 'api',
    env: (facts) => ({ ...byKeys(facts), CLIENT_ID: facts.clientId, CLIENT_SECRET: facts.clientSecret }),
    commands: ['pip install flask requests', load, 'flask --app opaque_tokens run --port 3001'],
    files: filesOf({ 'opaque_tokens.py': () => import('../../examples/api/opaque_tokens.py?raw') }),
  },
}
