package testshop

// medusaMapping reads what can be read without a view: an order's total is in a JSON document there, and its address in five
// columns of another table. A refund counts while it is not deleted, a payment once it was captured.
const medusaMapping = `{"name":"retail in Medusa","driver":"postgres","dsn":"DSN","zone":"UTC","currency":"USD","unit":"major","entities":{
	"order":{"schema":"public","table":"order","key":"id","where":{"column":"deleted_at","is_null":true},
		"columns":{"number":"custom_display_id","customer":"customer_id","email":"email","placed_at":"created_at","status":"status",
			"currency":"currency_code"}},
	"payment":{"schema":"public","table":"payment","join":{"table":"order_payment_collection","on":"payment_collection_id","order_key":"order_id"},
		"where":[{"column":"deleted_at","is_null":true},{"column":"captured_at","not_null":true}],
		"columns":{"id":"id","amount":"amount","paid_at":"captured_at","currency":"currency_code","reference":"provider_id"}},
	"fulfillment":{"schema":"public","table":"fulfillment","join":[{"table":"fulfillment_label","on":"id = fulfillment_id"},
			{"table":"order_fulfillment","on":"fulfillment_id","order_key":"order_id"}],
		"where":[{"column":"deleted_at","is_null":true},{"column":"canceled_at","is_null":true}],
		"columns":{"id":"id","tracking":"fulfillment_label.tracking_number","shipped_at":"shipped_at","delivered_at":"delivered_at"}},
	"refund":{"schema":"public","table":"refund","join":[{"table":"payment","on":"payment_id = id"},
			{"table":"order_payment_collection","on":"payment_collection_id","order_key":"order_id"}],
		"where":{"column":"deleted_at","is_null":true},
		"columns":{"id":"id","amount":"amount","refunded_at":"created_at","currency":"payment.currency_code"}},
	"return":{"schema":"public","table":"return","order_key":"order_id","where":{"column":"deleted_at","is_null":true},
		"columns":{"id":"id","status":"status","opened_at":"created_at"},
		"states":{"open":["open","requested","partially_received"],"closed":["received","canceled"]}}}}`
