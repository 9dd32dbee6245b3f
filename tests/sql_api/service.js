// A service in another language: it claims, works and completes in a transaction of its own, through semel.claim and
// semel.complete. Each check says what it found; the last line says that all went well.
'use strict';

const assert = require('node:assert');
const crypto = require('node:crypto');
const { Pool } = require('pg');

const url = process.env.SEMEL_TEST_DATABASE;
const pool = new Pool({ connectionString: url, max: 4 });

// As the library stores it: a byte that names the rules, then the digest. To the functions it is opaque.
const fingerprint = (content) =>
  Buffer.concat([Buffer.from([1]), crypto.createHash('sha256').update(content).digest()]);

const claim = async (client, key, content = 'amount 1') => {
  const { rows } = await client.query('SELECT * FROM semel.claim($1, $2, $3, $4, $5)', [
    'shop', 'web', 'payment.create', key, fingerprint(content),
  ]);
  assert.strictEqual(rows.length, 1);
  return rows[0];
};

const complete = (client, key, reply, retention = '24 hours', content = 'amount 1') =>
  client.query('SELECT semel.complete($1, $2, $3, $4, $5, $6, $7, $8, $9::interval)', [
    'shop', 'web', 'payment.create', key, fingerprint(content), reply.status, reply.headers, reply.body, retention,
  ]);

const replyOf = (key) => ({
  status: 201,
  headers: `Location: /payments/${key}\n`,
  body: Buffer.from(`paid ${key}`),
});

// What a request handler of such a service does. The verdict, and the reply where there is one.
const pay = async (key, { content = 'amount 1', reply = replyOf(key), before = async () => {} } = {}) => {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const claimed = await claim(client, key, content);
    if (claimed.verdict !== 'execute') {
      await client.query('ROLLBACK');
      return claimed;
    }
    await before();
    await client.query('INSERT INTO payment (id, amount) VALUES ($1, 1)', [key]);
    await complete(client, key, reply, '24 hours', content);
    await client.query('COMMIT');
    return { verdict: 'executed', ...reply };
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
};

const payments = async (key) =>
  Number((await pool.query('SELECT count(*) FROM payment WHERE id = $1', [key])).rows[0].count);

const sameReply = (given, expected) => {
  assert.strictEqual(given.status, expected.status);
  assert.strictEqual(given.headers, expected.headers);
  assert.ok(Buffer.compare(given.body, expected.body) === 0, 'the body differs');
};

const checks = {
  async 'a repeat gets the same bytes and changes nothing'() {
    const reply = { status: 201, headers: 'ETag: "1"\nLocation: /x\n', body: Buffer.from([0, 255, 10, 13, 34]) };
    assert.strictEqual((await pay('node-1', { reply })).verdict, 'executed');
    for (let again = 0; again < 3; ++again) {
      const given = await pay('node-1', { reply: replyOf('never') });
      assert.strictEqual(given.verdict, 'replay');
      sameReply(given, reply);
    }
    assert.strictEqual(await payments('node-1'), 1);
  },

  async 'another request under the same key is a mismatch and learns nothing'() {
    const given = await pay('node-1', { content: 'amount 2' });
    assert.deepStrictEqual(given, { verdict: 'mismatch', status: null, headers: null, body: null });
  },

  async 'a second connection is told that it is in progress'() {
    let told;
    const first = await pay('node-2', {
      before: async () => {
        told = await pay('node-2');
        assert.strictEqual((await pay('node-2', { content: 'amount 2' })).verdict, 'in_progress');
      },
    });
    assert.strictEqual(told.verdict, 'in_progress');
    assert.strictEqual(told.body, null);
    assert.strictEqual(first.verdict, 'executed');
    assert.strictEqual((await pay('node-2')).verdict, 'replay');
    assert.strictEqual(await payments('node-2'), 1);
  },

  async 'a rollback leaves nothing'() {
    await assert.rejects(
      pay('node-3', { before: async () => { throw new Error('the handler failed'); } }),
      /the handler failed/,
    );
    assert.strictEqual(await payments('node-3'), 0);
    assert.strictEqual((await pay('node-3')).verdict, 'executed');
  },

  async 'an expired key says so'() {
    assert.strictEqual((await pay('node-4')).verdict, 'executed');
    await pool.query(
      "UPDATE semel.command_record SET expires_at = now() - interval '1 second' WHERE key = 'node-4'",
    );
    assert.deepStrictEqual(await pay('node-4'), { verdict: 'expired', status: null, headers: null, body: null });
    assert.strictEqual(await payments('node-4'), 1);
  },

  async 'completing what another transaction executes is refused'() {
    const one = await pool.connect();
    const two = await pool.connect();
    try {
      await one.query('BEGIN');
      assert.strictEqual((await claim(one, 'node-5')).verdict, 'execute');
      await two.query('BEGIN');
      await assert.rejects(complete(two, 'node-5', replyOf('node-5')), (error) => error.code === 'SM001');
      await two.query('ROLLBACK');
      await assert.rejects(complete(one, null, replyOf('node-5')), (error) => error.code === '22004');
      await one.query('ROLLBACK');
      // Without a claim, the record's key still decides.
      assert.strictEqual((await pay('node-5')).verdict, 'executed');
      await two.query('BEGIN');
      await assert.rejects(complete(two, 'node-5', replyOf('node-5')), (error) => error.code === '23505');
      await two.query('ROLLBACK');
    } finally {
      one.release();
      two.release();
    }
  },

  async 'what C++ executed is replayed here'() {
    const given = await pay('from-cpp');
    assert.strictEqual(given.verdict, 'replay');
    sameReply(given, replyOf('from-cpp'));
    assert.strictEqual((await pay('from-cpp', { content: 'amount 2' })).verdict, 'mismatch');
  },

  async 'what is executed here is for C++ to replay'() {
    const reply = { status: 202, headers: 'Content-Type: text/plain\n', body: Buffer.from([1, 0, 2]) };
    assert.strictEqual((await pay('from-node', { reply })).verdict, 'executed');
  },

  async 'keys that C++ works on at the same time have one effect each'() {
    let executed = 0;
    for (let n = 0; n < 60; ++n) {
      const key = `race-${n}`;
      for (;;) {
        const given = await pay(key);
        if (given.verdict === 'in_progress') continue;
        if (given.verdict === 'executed') ++executed;
        sameReply(given, replyOf(key));
        break;
      }
    }
    console.log(`executed here: ${executed} of 60`);
  },
};

const main = async () => {
  const only = process.argv.slice(2);
  let done = 0;
  for (const [name, check] of Object.entries(checks)) {
    if (only.length > 0 && !only.includes(name)) continue;
    try {
      await check();
    } catch (error) {
      console.error(`${name}: ${error.stack}`);
      process.exitCode = 1;
      continue;
    }
    ++done;
    console.log(`ok: ${name}`);
  }
  await pool.end();
  console.log(`${done} checks passed`);
};

main();
